import CBOR
import LoopCore
import LoopWire
import Testing

/// A state with dictionaries in several places.
private struct Archive: Codable, Equatable {
    struct Wing: Codable, Equatable {
        var name: String
        var shelves: TrackedDictionary<Int, String> = [:]
    }

    var title = "archive"
    var books: TrackedDictionary<String, [Int]> = [:]
    var wings: [Wing] = []
    var lost: TrackedDictionary<Int, Int>?
    var boxes: TrackedDictionary<Int, TrackedDictionary<Int, Int>> = [:]
    var count = 0

    static func random(_ random: inout SeededRandom, entries: Int) -> Archive {
        var archive = Archive()
        for number in 0..<entries {
            archive.books["book \(number)"] = Array(0..<Int.random(in: 0...5, using: &random))
            if Bool.random(using: &random) { archive.boxes[number] = [number: 1, 2: number] }
        }
        for wing in 0..<Int.random(in: 0...3, using: &random) {
            archive.wings.append(Wing(name: "wing \(wing)"))
            for shelf in 0..<Int.random(in: 0...entries, using: &random) {
                archive.wings[wing].shelves[shelf] = "shelf \(shelf)"
            }
        }
        if Bool.random(using: &random) { archive.lost = [1: 2] }
        // Gaps in the order of insertion, also at its begin.
        for number in 0..<entries where Int.random(in: 0..<3, using: &random) == 0 || number < entries / 4 {
            archive.books["book \(number)"] = nil
        }
        archive.count = archive.books.count
        return archive
    }
}

/// A type that cannot be empty.
private struct Crew: Codable, Equatable {
    var members: TrackedDictionary<Int, String>

    init(members: TrackedDictionary<Int, String>) { self.members = members }

    init(from decoder: any Decoder) throws {
        members = try decoder.container(keyedBy: CodingKeys.self).decode(
            TrackedDictionary<Int, String>.self, forKey: .members)
        guard !members.isEmpty else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "nobody is aboard"))
        }
    }
}

private func chunks<State: Encodable>(of state: State, byteCount: Int) throws -> [[UInt8]] {
    var rest = try #require(try StateChunks(of: state))
    var chunks: [[UInt8]] = []
    while !rest.isAtEnd { chunks.append(try rest.next(byteCount: byteCount)) }
    return chunks
}

private func assembled<State: Codable>(_ type: State.Type, _ chunks: [[UInt8]]) throws -> State {
    var state = try AssembledState<State>(manifest: chunks[0])
    for chunk in chunks.dropFirst() { try state.add(chunk) }
    return try state.state()
}

@Suite struct `A state in chunks` {
    @Test(arguments: [1, 60, 1000, 1_000_000])
    func `comes back as it was, with its order, whatever size they have`(byteCount: Int) throws {
        var random = SeededRandom(seed: UInt64(byteCount))
        for entries in [1, 3, 16, 17, 300] {
            var archive = Archive.random(&random, entries: entries)
            archive.books["the last one"] = []
            let chunks = try chunks(of: archive, byteCount: byteCount)
            let back = try assembled(Archive.self, chunks)
            #expect(back == archive)
            #expect(try CBOR.encode(back) == CBOR.encode(archive))
            #expect(back.books.map(\.key) == archive.books.map(\.key))
        }
    }

    @Test func `has chunks about as long as they are asked for`() throws {
        var archive = Archive()
        for number in 0..<20_000 { archive.books["book \(number)"] = [number] }
        let chunks = try chunks(of: archive, byteCount: 4096)
        #expect(chunks[0].count < 200)
        // The first of them find out how many entries make one; the last has what is left.
        #expect(chunks.dropFirst(4).dropLast().allSatisfy { (3500...4700).contains($0.count) })
    }

    @Test func `is what it was when it was taken, whatever changes later`() throws {
        var archive = Archive()
        for number in 0..<100 { archive.books["\(number)"] = [number] }
        let before = archive
        var rest = try #require(try StateChunks(of: archive))
        var state = try AssembledState<Archive>(manifest: rest.next(byteCount: 50))
        while !rest.isAtEnd {
            archive.books["\(archive.count)"] = nil
            archive.books["new \(archive.count)"] = []
            archive.count += 1
            try state.add(rest.next(byteCount: 50))
        }
        #expect(try state.state() == before)
    }

    @Test func `is one chunk where its dictionaries are empty, or there are none`() throws {
        #expect(try StateChunks(of: Archive()) == nil)
        #expect(try StateChunks(of: [1, 2]) == nil)
        var whole = StateChunks(whole: [1, 2])
        #expect(!whole.isAtEnd)
        #expect(try whole.next(byteCount: 1) == [1, 2])
        #expect(whole.isAtEnd)
    }

    @Test func `can be asked for twice`() throws {
        let archive = Archive(books: ["a": [1]])
        var state = try AssembledState<Archive>(manifest: chunks(of: archive, byteCount: 10)[0])
        for chunk in try chunks(of: archive, byteCount: 10).dropFirst() { try state.add(chunk) }
        #expect(try state.state() == archive)
        #expect(try state.state() == archive)
    }

    @Test func `is refused at its manifest where the type cannot be empty`() throws {
        let chunks = try chunks(of: Crew(members: [1: "Ada"]), byteCount: 10)
        #expect(throws: WireError.self) { try AssembledState<Crew>(manifest: chunks[0]) }
    }

    @Test func `is refused where a chunk is of no dictionary, of another type, twice there or cut`() throws {
        let archive = Archive(books: ["a": [1], "b": []])
        let chunks = try chunks(of: archive, byteCount: 1_000_000)
        #expect(chunks.count == 2)
        func refuses(_ chunk: [UInt8]) throws {
            var state = try AssembledState<Archive>(manifest: chunks[0])
            #expect(throws: WireError.self) { try state.add(chunk) }
        }
        try refuses(CBOR.encode([Item.number(7), .entries(["c"])]))
        try refuses(CBOR.encode([Item.number(0), .entries(["c"])]))
        try refuses(CBOR.encode([Item.number(0), .number(1)]))
        try refuses(Array(chunks[1].dropLast()))
        var twice = try AssembledState<Archive>(manifest: chunks[0])
        try twice.add(chunks[1])
        try twice.add(chunks[1])
        #expect(throws: WireError.self) { try twice.state() }
        // A number of a dictionary of another type.
        let manifest = try CBOR.encode(["a": 0, "b": 0])
        #expect(throws: WireError.self) { try AssembledState<Two>(manifest: manifest) }
    }

    private struct Two: Codable {
        var a: TrackedDictionary<Int, Int>
        var b: TrackedDictionary<String, Int>
    }

    private enum Item: Encodable {
        case number(Int)
        case entries([String])

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .number(let number):
                var container = encoder.singleValueContainer()
                try container.encode(number)
            case .entries(let entries):
                var container = encoder.singleValueContainer()
                try container.encode(entries)
            }
        }
    }
}
