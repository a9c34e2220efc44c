import LoopTesting
import Testing

private struct Car: Codable, Hashable {
    var plate: String
    var doors = 4
}

private struct Garage: Codable {
    enum Door: Codable, Equatable {
        case open, closed
        case moving(percent: Int, isUp: Bool)
        case stuck(Car)
    }

    var cars: [Car] = []
    var door = Door.closed
    var owner: String?
    var tags: Set<String> = []
    var places: [String: Car] = [:]
    var size = (width: 3, height: 2)
    var days: [Int] = []

    enum CodingKeys: CodingKey { case cars, door, owner, tags, places, days }
}

/// Cannot be compared, and hides nothing.
private final class Box {
    var content: Any
    init(_ content: Any) { self.content = content }
}

/// Equal to nothing, not even to itself.
private struct Unequal: Equatable {
    static func == (a: Unequal, b: Unequal) -> Bool { false }
}

/// Counts two numbers as equal that are near.
private struct Near: Equatable {
    var value: Double
    static func == (a: Near, b: Near) -> Bool { abs(a.value - b.value) < 1 }
}

@Suite struct `A difference` {
    private func lines(_ change: (inout Garage) -> Void, from garage: Garage = Garage()) -> [String] {
        var changed = garage
        change(&changed)
        return Difference(from: garage, to: changed).lines
    }

    @Test func `of equal values is empty`() {
        #expect(lines { _ in } == [])
        #expect(Difference(from: 1, to: 1).isEmpty)
        #expect(Difference(from: Near(value: 1), to: Near(value: 1.5)).isEmpty)
        #expect(Difference(from: Box([1: "a"]), to: Box([1: "a"])).isEmpty)
    }

    @Test func `of plain values is both of them`() {
        #expect(Difference(from: 1, to: 2).lines == ["- 1", "+ 2"])
        #expect(Difference(from: "a\n", to: "b").lines == [#"- "a\n""#, #"+ "b""#])
        #expect(Difference(from: Garage.Door.open, to: .closed).lines == ["- open", "+ closed"])
        #expect(Difference(from: Duration.seconds(1), to: .seconds(2)).lines == ["- 1.0 seconds", "+ 2.0 seconds"])
        #expect(Difference(from: 1 as Any, to: "1").lines == ["- 1 (Int)", "+ \"1\" (String)"])
    }

    @Test func `names the field that changed and no other`() {
        #expect(
            lines {
                $0.owner = "Ada"
                $0.size.height = 5
            } == ["- owner: nil", "+ owner: \"Ada\"", "- size.height: 2", "+ size.height: 5"])
    }

    @Test func `goes into the case of an enum as long as it is the same`() {
        let moving = Garage(door: .moving(percent: 10, isUp: true))
        #expect(
            lines({ $0.door = .moving(percent: 20, isUp: true) }, from: moving) == [
                "- door.moving.percent: 10", "+ door.moving.percent: 20",
            ])
        #expect(
            lines({ $0.door = .open }, from: moving) == ["- door: moving(percent: 10, isUp: true)", "+ door: open"])
        #expect(
            lines({ $0.door = .stuck(Car(plate: "B")) }, from: Garage(door: .stuck(Car(plate: "A")))) == [
                "- door.stuck.plate: \"A\"", "+ door.stuck.plate: \"B\"",
            ])
    }

    @Test func `says which elements of an array were inserted, removed and changed`() {
        let three = Garage(cars: [Car(plate: "A"), Car(plate: "B"), Car(plate: "C")])
        #expect(
            lines({ $0.cars.insert(Car(plate: "N"), at: 1) }, from: three) == [
                "+ cars[1]: Car(plate: \"N\", doors: 4) (inserted)"
            ])
        #expect(
            lines({ $0.cars.removeFirst() }, from: three) == ["- cars[0]: Car(plate: \"A\", doors: 4) (removed)"])
        #expect(lines({ $0.cars[2].doors = 2 }, from: three) == ["- cars[2].doors: 4", "+ cars[2].doors: 2"])
        #expect(
            lines(
                {
                    $0.cars.removeFirst()
                    $0.cars[1].doors = 2
                    $0.cars.append(Car(plate: "D"))
                }, from: three) == [
                    "- cars[0]: Car(plate: \"A\", doors: 4) (removed)", "- cars[1].doors: 4", "+ cars[1].doors: 2",
                    "+ cars[2]: Car(plate: \"D\", doors: 4) (inserted)",
                ])
    }

    @Test func `shows sets and dictionaries in order`() {
        let many = Garage(tags: ["a", "b", "c"], places: ["x": Car(plate: "X"), "y": Car(plate: "Y")])
        #expect(
            lines(
                {
                    $0.tags = ["b", "z", "m"]
                    $0.places = ["y": Car(plate: "Z"), "u": Car(plate: "U")]
                }, from: many) == [
                    "- tags: \"a\" (removed)", "- tags: \"c\" (removed)", "+ tags: \"m\" (inserted)",
                    "+ tags: \"z\" (inserted)", "+ places[\"u\"]: Car(plate: \"U\", doors: 4) (inserted)",
                    "- places[\"x\"]: Car(plate: \"X\", doors: 4) (removed)", "- places[\"y\"].plate: \"Y\"",
                    "+ places[\"y\"].plate: \"Z\"",
                ])
        #expect(
            Difference(from: Set<Int>(), to: Set(1...12)).lines == (1...12).map { "+ \($0) (inserted)" })
        #expect(
            Difference(from: ["all": Set<String>()], to: ["all": ["b", "a"]]).lines == [
                "+ [\"all\"]: \"a\" (inserted)", "+ [\"all\"]: \"b\" (inserted)",
            ])
    }

    @Test func `is the same each time, whatever the order of sets and dictionaries in memory`() {
        let numbers = Dictionary(uniqueKeysWithValues: (0..<20).map { ("\($0)", [Set(0..<$0)]) })
        let text = Difference(from: 0 as Any, to: numbers).description
        #expect(text.hasPrefix("- 0 (Int)\n+ [\"0\": [[]], \"1\": [[0]], \"10\": [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]], "))
    }

    @Test func `is bounded in lines and in their length`() {
        let long = Difference(from: Array(0..<100), to: Array(1000..<1100), linesMax: 5)
        #expect(
            long.lines == ["- [0]: 0", "+ [0]: 1000", "- [1]: 1", "+ [1]: 1001", "- [2]: 2", "… and 195 more lines"])
        let text = String(repeating: "a", count: 1000)
        let lines = Difference(from: text + "b" + text, to: text + "c" + text).lines
        let before = "…" + String(repeating: "a", count: 40)
        let after = String(repeating: "a", count: 79) + "…"
        #expect(lines == ["- \(before)b\(after)", "+ \(before)c\(after)"])
    }

    @Test func `of large arrays is found in time`() {
        let old = Array(0..<20_000)
        #expect(Difference(from: old, to: old + [1]).lines == ["+ [20000]: 1 (inserted)"])
        #expect(Difference(from: old, to: old.map { $0 + 1 }).lines.count == 41)
    }

    @Test func `of classes, and of what is equal to nothing`() {
        #expect(Difference(from: Box(1), to: Box(2)).lines == ["- content: 1", "+ content: 2"])
        #expect(
            Difference(from: Unequal(), to: Unequal()).lines == [
                "- Unequal()", "+ Unequal() (not equal, though it looks the same)",
            ])
    }

    @Test func `ends in values that contain themselves`() {
        let (a, b) = (Box(1), Box(2))
        a.content = (a, "a")
        b.content = (b, "b")
        let lines = Difference(from: a, to: b).lines
        #expect(lines.last == "+ content.1: \"b\"")
    }
}
