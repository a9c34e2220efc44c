import CBOR
import Testing

private func roundTrip<T: Codable & Equatable>(
    _ value: T, _ diagnostic: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let bytes = try CBOR.encode(value)
    #expect(try CBOR.decode(T.self, from: bytes) == value, sourceLocation: sourceLocation)
    #expect(try CBOR.decode(T.self, from: ([0xFF] + bytes)[1...]) == value, sourceLocation: sourceLocation)
    if let diagnostic { #expect(try CBOR.diagnose(bytes) == diagnostic, sourceLocation: sourceLocation) }
}

private struct Point: Codable, Hashable {
    var x: Int
    var y: Int
}

private enum Shape: Codable, Hashable {
    case empty
    case circle(radius: Double, Point)
    indirect case group([Shape], named: String?)
}

private enum Colour: String, Codable { case red, green }
private enum Level: Int, Codable {
    case low = -1
    case high = 1
}

private struct Wide: Codable, Equatable {
    var bool = true
    var i8 = Int8.min
    var i16 = Int16.min
    var i32 = Int32.min
    var i64 = Int64.min
    var u8 = UInt8.max
    var u16 = UInt16.max
    var u32 = UInt32.max
    var u64 = UInt64.max
    var int = Int.max
    var uint = UInt.max
    var float = Float.leastNonzeroMagnitude
    var double = Double.leastNonzeroMagnitude
    var text = "ünïcödé 水 𐅑 \u{0}\n"
    var bytes: [UInt8] = Array(0...255)
    var texts = ["", "a"]
    var doubles = [0.1, -0.0, .infinity]
    var ints = [Int.min, 0, 1 << 40]
    var colour = Colour.green
    var level = Level.low
    var range = 3..<9
    var closed = 1.5...2.5
    var none: Int?
    var some: String? = "x"
}

private struct Optionals: Codable, Equatable {
    var deep: Int??
    var deeper: Int???
    var list: [Int??] = []
    var map: [String: Int?] = [:]
}

private class Animal: Codable {
    var name: String
    init(name: String) { self.name = name }
}

private final class Dog: Animal {
    var age: Int
    init(name: String, age: Int) {
        self.age = age
        super.init(name: name)
    }
    private enum Keys: CodingKey { case age }
    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        age = try container.decode(Int.self, forKey: .age)
        try super.init(from: container.superDecoder())
    }
    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try super.encode(to: container.superEncoder())
        try container.encode(age, forKey: .age)
    }
}

/// Fills its containers in turns, asks for a map twice, and writes a key twice.
private struct Interleaved: Codable, Equatable {
    var values = [1, 2, 3, 4]
    enum Keys: CodingKey { case a, b, list, twice }

    init() {}

    func encode(to encoder: any Encoder) throws {
        var outer = encoder.container(keyedBy: Keys.self)
        var b = outer.nestedContainer(keyedBy: Keys.self, forKey: .b)
        var a = outer.nestedContainer(keyedBy: Keys.self, forKey: .a)
        var list = outer.nestedUnkeyedContainer(forKey: .list)
        try b.encode(values[0], forKey: .b)
        try list.encode(values[1])
        try a.encode(values[1], forKey: .a)
        try outer.encode("first", forKey: .twice)
        var inner = list.nestedContainer(keyedBy: Keys.self)
        try list.encode(values[2])
        try inner.encode(values[0], forKey: .a)
        try b.encode(values[2], forKey: .a)
        var again = encoder.container(keyedBy: Keys.self)
        var more = again.nestedContainer(keyedBy: Keys.self, forKey: .a)
        try more.encode(values[3], forKey: .b)
        try again.encode("last", forKey: .twice)
    }

    init(from decoder: any Decoder) throws {
        let outer = try decoder.container(keyedBy: Keys.self)
        let b = try outer.nestedContainer(keyedBy: Keys.self, forKey: .b)
        let a = try outer.nestedContainer(keyedBy: Keys.self, forKey: .a)
        values = [
            try b.decode(Int.self, forKey: .b), try a.decode(Int.self, forKey: .a), try b.decode(Int.self, forKey: .a),
            try a.decode(Int.self, forKey: .b),
        ]
    }
}

@Suite struct `CBOR round trips` {
    @Test func `every scalar keeps its value`() throws {
        try roundTrip(Wide())
        for value in [
            0, 23, 24, 255, 256, 65535, 65536, Int(UInt32.max), Int(UInt32.max) + 1, .max, -1, -24, -25, .min,
        ] {
            try roundTrip(value)
        }
    }

    @Test func `floats take the shortest form that keeps them`() throws {
        let sizes: [(Double, Int)] = [
            (0, 3), (-0.0, 3), (65504, 3), (65536, 5), (0x1p-24, 3), (0x1p-25, 5), (0x1.8p-24, 5), (0x1p-14, 3),
            (0x1.004p0, 3), (0x1.002p0, 5), (.infinity, 3), (.nan, 3), (0.1, 9), (0x1p-149, 5), (0x1p-150, 9),
            (0x1.ffcp-15, 5), (0x1.ff8p-15, 3),
        ]
        for (value, size) in sizes {
            let bytes = try CBOR.encode(value)
            #expect(bytes.count == size, "\(value)")
            let back = try CBOR.decode(Double.self, from: bytes)
            #expect(back.bitPattern == value.bitPattern || value.isNaN && back.isNaN)
        }
        #expect(try CBOR.encode(-Double.nan) == [0xF9, 0x7E, 0x00])
        #expect(try CBOR.encode(Float(bitPattern: 0x7FC0_0001)) == [0xF9, 0x7E, 0x00])
    }

    @Test func `every half is itself again`() throws {
        for bits in UInt16.min...UInt16.max {
            let bytes = [0xF9, UInt8(bits >> 8), UInt8(bits & 0xFF)]
            let value = try CBOR.decode(Double.self, from: bytes)
            #expect(try CBOR.encode(value) == (value.isNaN ? [0xF9, 0x7E, 0x00] : bytes))
        }
    }

    @Test func `enums with payloads are maps of one entry`() throws {
        try roundTrip(Shape.empty, #"{"empty": {}}"#)
        try roundTrip(
            Shape.circle(radius: 1.5, Point(x: 1, y: -2)),
            #"{"circle": {"_1": {"x": 1, "y": -2}, "radius": 1.5}}"#)
        try roundTrip(Shape.group([.empty, .group([], named: nil)], named: "all"))
    }

    @Test func `optionals of optionals keep every level`() throws {
        try roundTrip(Optionals(), #"{"map": {}, "list": []}"#)
        try roundTrip(
            Optionals(deep: .some(nil), deeper: .some(.some(nil)), list: [nil, .some(nil), 5], map: ["a": nil]))
        try roundTrip(Optionals(deep: 1, deeper: 2))
        try roundTrip(Optionals(deeper: .some(nil)))
        try roundTrip([1, nil] as [Int?], "[1, null]")
    }

    @Test func `dictionaries take any key`() throws {
        try roundTrip(["b": 1, "a": 2, "aa": 3], #"{"a": 2, "b": 1, "aa": 3}"#)
        try roundTrip([10: "x", -1: "y", 100: "z"], #"{10: "x", 100: "z", -1: "y"}"#)
        try roundTrip([Point(x: 2, y: 1): 1, Point(x: 1, y: 2): 2], #"{{"x": 1, "y": 2}: 2, {"x": 2, "y": 1}: 1}"#)
        try roundTrip([Shape.empty: [1: [true: "deep"]]])
        try roundTrip([[1, 2]: 3] as [[UInt8]: Int], "{h'0102': 3}")
    }

    @Test func `empty containers stay empty`() throws {
        struct Empty: Codable, Equatable {}
        try roundTrip(Empty(), "{}")
        try roundTrip([Int](), "[]")
        try roundTrip([UInt8](), "h''")
        try roundTrip([Point](), "[]")
        try roundTrip([String: Int](), "{}")
        try roundTrip(Set<Int>(), "[]")
    }

    @Test func `long containers have long heads`() throws {
        for count in [22, 23, 24, 25, 255, 256] {
            try roundTrip((0..<count).map { Point(x: $0, y: 0) })
            try roundTrip(Set(0..<count))
            try roundTrip(Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, $0) }))
        }
        try roundTrip((0..<65536).map { UInt16($0) })
        try roundTrip([UInt8](repeating: 7, count: 65536))
    }

    @Test func `a class and its superclass keep their parts apart`() throws {
        let bytes = try CBOR.encode(Dog(name: "Rex", age: 7))
        #expect(try CBOR.diagnose(bytes) == #"{"age": 7, "super": {"name": "Rex"}}"#)
        let dog = try CBOR.decode(Dog.self, from: bytes)
        #expect(dog.name == "Rex")
        #expect(dog.age == 7)
    }

    @Test func `containers may be filled in turns`() throws {
        try roundTrip(
            Interleaved(),
            #"{"a": {"a": 2, "b": 4}, "b": {"a": 3, "b": 1}, "list": [2, {"a": 1}, 3], "twice": "last"}"#)
    }

    @Test func `user info reaches both sides`() throws {
        struct Asks: Codable {
            static let key = CodingUserInfoKey(rawValue: "key")!
            var seen: String
            init() { seen = "" }
            func encode(to encoder: any Encoder) throws {
                var single = encoder.singleValueContainer()
                try single.encode(encoder.userInfo[Self.key] as? String ?? "nothing")
            }
            init(from decoder: any Decoder) throws {
                seen = try decoder.singleValueContainer().decode(String.self)
                seen += decoder.userInfo[Self.key] as? String ?? "nothing"
            }
        }
        let bytes = try CBOR.encode(Asks(), userInfo: [Asks.key: "hello"])
        #expect(try CBOR.decode(Asks.self, from: bytes, userInfo: [Asks.key: "you"]).seen == "helloyou")
    }
}
