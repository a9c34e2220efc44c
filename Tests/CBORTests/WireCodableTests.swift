import CBOR
import Testing

/// A struct that is coded both ways; the compiler's way by ``PlainStop``.
private struct Stop: WireCodable, Equatable {
    var id: Int
    var name: String
    var delay: Double?
    var isOpen: Bool
    var lines: [Line]
    var token: [UInt8]
    var note: String?

    struct Line: Codable, Equatable {
        var number: UInt64
        var ends: [String]
    }

    func encode(to writer: inout WireWriter) throws {
        try writer.map { stop in
            // In no order on purpose.
            stop.write("name", name)
            stop.write("id", id)
            try stop.writeIfPresent("delay", delay)
            stop.write("token", token)
            try stop.write("lines", lines)
            stop.write("isOpen", isOpen)
            try stop.writeIfPresent("note", note)
        }
    }

    init(from reader: inout WireReader) throws {
        let stop = try reader.map()
        id = try stop.read("id")
        name = try stop.read("name")
        delay = try stop.readIfPresent("delay")
        isOpen = try stop.read("isOpen")
        lines = try stop.read("lines")
        token = try stop.read("token")
        note = try stop.readIfPresent("note")
    }

    init(_ plain: PlainStop) {
        (id, name, delay, isOpen, token, note) = (
            plain.id, plain.name, plain.delay, plain.isOpen, plain.token, plain.note
        )
        lines = plain.lines
    }
}

private struct PlainStop: Codable, Equatable {
    var id = 7
    var name = "Zürich, Hauptbahnhof"
    var delay: Double? = 1.5
    var isOpen = true
    var lines = [Stop.Line(number: .max, ends: ["Basel", ""]), Stop.Line(number: 3, ends: [])]
    var token: [UInt8] = Array(0...40)
    var note: String?
}

private enum Ride: WireCodable, Equatable {
    case waiting
    case going(Int, to: [Stop])
    indirect case both(Ride, Ride)

    func encode(to writer: inout WireWriter) throws {
        switch self {
        case .waiting: writer.choice("waiting")
        case .going(let line, let stops):
            try writer.choice("going") { going in
                going.write("_0", line)
                try going.write("to", stops)
            }
        case .both(let first, let second):
            try writer.choice("both") { both in
                try both.write("_0", first)
                try both.write("_1", second)
            }
        }
    }

    init(from reader: inout WireReader) throws {
        let choice = try reader.choice()
        switch choice.name {
        case "waiting": self = .waiting
        case "going": self = .going(try choice.values.read("_0"), to: try choice.values.read("to"))
        case "both": self = .both(try choice.values.read("_0"), try choice.values.read("_1"))
        default: throw choice.unknown(Self.self)
        }
    }
}

private enum PlainRide: Codable, Equatable {
    case waiting
    case going(Int, to: [PlainStop])
    indirect case both(PlainRide, PlainRide)
}

/// Types that mix: each holds some of the other kind.
private struct Timetable: Codable, Equatable {
    var first: Stop
    var rides: [Ride]
    var byName: [String: Stop]
    var last: Ride?
}

private func same<Wire: WireCodable & Equatable, Plain: Codable & Equatable>(
    _ wire: Wire, _ plain: Plain, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let bytes = try CBOR.encode(wire)
    #expect(try CBOR.diagnose(bytes) == CBOR.diagnose(CBOR.encode(plain)), sourceLocation: sourceLocation)
    #expect(bytes == (try CBOR.encode(plain)), sourceLocation: sourceLocation)
    #expect(try CBOR.decode(Wire.self, from: bytes) == wire, sourceLocation: sourceLocation)
    #expect(try CBOR.decode(Plain.self, from: bytes) == plain, sourceLocation: sourceLocation)
}

@Suite struct `G8 what is coded by hand has the same bytes` {
    @Test func `a struct, with and without its optional values`() throws {
        var plain = PlainStop()
        try same(Stop(plain), plain)
        (plain.delay, plain.note) = (nil, "x")
        try same(Stop(plain), plain)
        (plain.delay, plain.note, plain.lines) = (-0.0, nil, [])
        try same(Stop(plain), plain)
    }

    @Test func `an enum, with and without values`() throws {
        let stop = PlainStop()
        try same(Ride.waiting, PlainRide.waiting)
        try same(Ride.going(-3, to: [Stop(stop), Stop(stop)]), PlainRide.going(-3, to: [stop, stop]))
        try same(
            Ride.both(.both(.waiting, .going(0, to: [])), .waiting),
            PlainRide.both(.both(.waiting, .going(0, to: [])), .waiting))
    }

    @Test func `both kinds stand in each other`() throws {
        let stop = Stop(PlainStop())
        let table = Timetable(
            first: stop, rides: [.waiting, .going(1, to: [stop])], byName: ["b": stop, "a": stop], last: .waiting)
        let bytes = try CBOR.encode(table)
        #expect(try CBOR.decode(Timetable.self, from: bytes) == table)
        #expect(try CBOR.encode([stop]) == CBOR.encode([PlainStop()]))
        #expect(try CBOR.decode([Stop].self, from: CBOR.encode([PlainStop()])) == [stop])
        #expect(try CBOR.decode(Ride?.self, from: CBOR.encode(PlainRide?.none)) == nil)
    }

    @Test func `values that are no maps`() throws {
        struct Pair: WireCodable, Equatable {
            var number: Int
            var name: String
            init(_ number: Int, _ name: String) { (self.number, self.name) = (number, name) }
            func encode(to writer: inout WireWriter) throws {
                writer.array { pair in
                    pair.write(number)
                    pair.write(name)
                    pair.writeNull()
                }
            }
            init(from reader: inout WireReader) throws {
                var texts: [String] = []
                var numbers: [Int] = []
                _ = try reader.array { element in
                    if try element.isNull { return }
                    if let number: Int = try? element.read() {
                        numbers.append(number)
                    } else {
                        texts.append(try element.read())
                    }
                }
                (number, name) = (numbers.first ?? 0, texts.first ?? "")
            }
        }
        let bytes = try CBOR.encode(["p": Pair(-8, "eight")])
        #expect(try CBOR.diagnose(bytes) == #"{"p": [-8, "eight", null]}"#)
        #expect(try CBOR.decode([String: Pair].self, from: bytes) == ["p": Pair(-8, "eight")])
    }
}

@Suite struct `G11 what is read by hand is as strict` {
    @Test func `errors say where and what`() throws {
        func error<T: Decodable>(_ type: T.Type, _ json: String) throws -> WireError? {
            let bytes = try CBOR.fromJSON(text: json)
            do {
                _ = try CBOR.decode(type, from: bytes)
                return nil
            } catch { return error }
        }
        #expect(
            try error([String: Ride].self, #"{"r": {"going": {"_0": 1}}}"#)
                == .keyMissing(path: "r.going", key: "to"))
        #expect(
            try error(Ride.self, #"{"going": {"_0": "x", "to": []}}"#)
                == .typeMismatch(path: "going._0", expected: "an integer", found: "\"x\""))
        #expect(
            try error(Ride.self, #"{"flying": {}}"#)
                == .refused(path: "flying", why: "Ride has no case \"flying\""))
        #expect(try error(Ride.self, #"{"waiting": {}, "going": {}}"#) != nil)
        #expect(try error(Ride.self, #"{"waiting": 3}"#) != nil)
        #expect(try error(Ride.self, "[]") != nil)
    }

    @Test func `bytes with any bit flipped, or cut, are a value or an error`() throws {
        let bytes = try CBOR.encode([Ride.both(.waiting, .going(300, to: [Stop(PlainStop())]))])
        for place in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[place] ^= 1 << UInt8(bit)
                // What both ways read, they read alike.
                guard let wire = try? CBOR.decode([Ride].self, from: changed),
                    let plain = try? CBOR.decode([PlainRide].self, from: changed)
                else { continue }
                #expect(try CBOR.encode(wire) == CBOR.encode(plain))
            }
            #expect(throws: WireError.self) { try CBOR.decode([Ride].self, from: bytes[..<place]) }
        }
    }

    @Test func `depth ends at the limit`() throws {
        var (wire, plain) = (Ride.waiting, PlainRide.waiting)
        for _ in 0..<8 { (wire, plain) = (.both(wire, .waiting), .both(plain, .waiting)) }
        let bytes = try CBOR.encode(wire)
        for depth in 0...20 {
            let limits = CBORLimits(depthMax: depth)
            let (a, b) = (try? CBOR.encode(wire, limits: limits), try? CBOR.encode(plain, limits: limits))
            #expect(a == b)
            #expect((a == nil) == (depth < 18))
            #expect(((try? CBOR.decode(Ride.self, from: bytes, limits: limits)) == nil) == (depth < 18))
        }
    }

    @Test func `a value is exactly one`() throws {
        struct Many: WireCodable {
            var count = 0
            init(_ count: Int) { self.count = count }
            func encode(to writer: inout WireWriter) { for number in 0..<count { writer.write(number) } }
            init(from reader: inout WireReader) throws {}
        }
        #expect(try CBOR.diagnose(CBOR.encode([Many(0)])) == "[{}]")
        #expect(try CBOR.diagnose(CBOR.encode(["a": Many(1)])) == #"{"a": 0}"#)
        #expect(throws: WireError.self) { try CBOR.encode(["a": Many(2)]) }
        #expect(try CBOR.diagnose(CBOR.encode([Many(1)])) == "[0]")
    }
}
