import CBOR
import LoopCore
import LoopWire

/// A state of which differences are read: tracked dictionaries at several places, and something else.
struct Shelf: Codable, Equatable, Sendable {
    struct Book: Codable, Equatable, Sendable {
        var title: String
        var notes: TrackedDictionary<Int, String>
    }

    var books: TrackedDictionary<String, Book>
    var loans: TrackedDictionary<Int, [UInt8]>?
    var isOpen: Bool

    static let sample: Shelf = {
        var books: TrackedDictionary<String, Book> = [:]
        for (place, title) in ["Emma", "Ulysses", "Middlemarch", "Dubliners"].enumerated() {
            var notes: TrackedDictionary<Int, String> = [:]
            for page in 0..<place { notes[page] = "page \(page)" }
            books["\(place)"] = Book(title: title, notes: notes)
        }
        var loans: TrackedDictionary<Int, [UInt8]> = [:]
        for number in 0..<20 { loans[number] = [UInt8(number)] }
        return Shelf(books: books, loans: loans, isOpen: true)
    }()

    /// What may become of it.
    static var later: [(name: String, shelf: Shelf)] {
        var lent = sample
        lent.loans?[20] = [1, 2, 3]
        lent.loans?[3] = []
        lent.loans?[7] = nil
        var sorted = sample
        let emma = sorted.books["0"]
        sorted.books["0"] = nil
        sorted.books["0"] = emma
        sorted.books["1"]?.notes[9] = "the end"
        var closed = sample
        closed.isOpen = false
        closed.loans = nil
        var empty = sample
        empty.books = [:]
        return [("nothing", sample), ("loans", lent), ("order", sorted), ("closed", closed), ("empty", empty)]
    }
}

extension FuzzTarget {
    /// Differences to a state. One that cannot be applied leaves it as it was; what was made of it can be said as a
    /// difference again.
    static let deltas = FuzzTarget("deltas") { bytes in
        let before = Shelf.sample
        var state = before
        do throws(WireError) {
            try Delta.apply(bytes, to: &state)
        } catch {
            try require(state == before, "a difference that cannot be applied has changed the state")
            return
        }
        var again = before
        try Delta.apply(Delta.encode(since: DeltaBase(of: before), to: state), to: &again)
        try require(again == state, "a state that a difference made is another one by a difference of its own")
        var same = state
        try Delta.apply(Delta.encode(since: DeltaBase(of: state), to: state), to: &same)
        try require(same == state, "a difference of a state to itself changes it")
    }

    /// States in pieces: the manifest first. What they make can be sent in pieces again.
    static let pieces = FuzzTarget("pieces") { bytes in
        var input = FuzzInput(bytes)
        guard let state = try? made(of: &input), var rest = try StateChunks(of: state) else { return }
        var again = try AssembledState<Shelf>(manifest: rest.next(byteCount: 32))
        while !rest.isAtEnd { try again.add(rest.next(byteCount: 32)) }
        try require(again.state() == state, "a state that pieces made is another one in pieces of its own")
    }

    private static func made(of input: inout FuzzInput) throws -> Shelf {
        var state = try AssembledState<Shelf>(manifest: input.chunk())
        while !input.isAtEnd { try state.add(input.chunk()) }
        return try state.state()
    }

    static func chunkSeeds() throws -> [FuzzSeed] {
        try Shelf.later.compactMap { name, shelf in
            guard var rest = try StateChunks(of: shelf) else { return nil }
            var script = FuzzScript()
            while !rest.isAtEnd { script.chunk(try rest.next(byteCount: 32)) }
            return FuzzSeed(name, script.bytes)
        }
    }
}
