import CBOR
import Foundation
import LoopCore
import LoopWire
import Testing

/// Deltas to states without a copy.
///
/// `LOOP_MODEL_SEEDS=2000 swift test -c release --filter 'Deltas to anchors'` takes longer histories of more.
@Suite struct `Deltas to anchors` {
    static let seeds = ProcessInfo.processInfo.environment["LOOP_MODEL_SEEDS"].flatMap { UInt64($0) } ?? 24

    struct Shelf: Codable, Equatable, Sendable {
        var number = 0
        var books: TrackedDictionary<Int, String> = [:]
        var spare: TrackedDictionary<Int, String>?
    }

    /// An observer that hears of every few states, with the base of its next delta.
    private struct Follower {
        let every: Int
        var base: DeltaBase
        var state: Shelf
    }

    @Test(arguments: 1...seeds)
    func `followers of several rhythms have the state, whatever was copied, emptied and taken back`(seed: UInt64) throws
    {
        var random = SeededRandom(seed: seed)
        let keys = [3, 12, 80, 600][Int(seed % 4)]
        var shelf = Shelf()
        var copies: [Shelf] = []
        var followers = try [1, 2, 7, 40].map { Follower(every: $0, base: try DeltaBase(of: shelf), state: shelf) }
        for step in 1...300 {
            for _ in 0..<Int.random(in: 0..<[4, 60][step % 2], using: &random) {
                change(&shelf, &copies, keys, &random)
            }
            for index in followers.indices where step % followers[index].every == 0 {
                let delta = try Delta.encode(since: followers[index].base, to: shelf)
                followers[index].base = try DeltaBase(of: shelf)
                try Delta.apply(delta, to: &followers[index].state)
                let isSame = try CBOR.encode(followers[index].state) == CBOR.encode(shelf)
                try #require(isSame, "seed \(seed), step \(step), every \(followers[index].every)")
            }
        }
    }

    private func change(_ shelf: inout Shelf, _ copies: inout [Shelf], _ keys: Int, _ random: inout SeededRandom) {
        let key = Int.random(in: 0..<keys, using: &random)
        switch Int.random(in: 0..<1000, using: &random) {
        case 0..<400: shelf.books[key] = "a title"
        case 400..<500: shelf.books[key]?.append("!")
        case 500..<550: shelf.books[key, default: ""].append("?")
        case 550..<800: shelf.books[key] = nil
        case 800..<900: shelf.number += 1
        case 900..<930: copies.append(shelf)
        case 930..<950: copies = []
        case 950..<955: if let copy = copies.randomElement(using: &random) { shelf = copy }
        case 955..<960: if let copy = copies.randomElement(using: &random) { shelf.books = copy.books }
        case 960..<975: for key in 0..<keys { shelf.books[key] = nil }
        case 975..<980: shelf.books.removeAll()
        case 980..<985: shelf.books = TrackedDictionary(shelf.books.map { ($0.key, $0.value) })
        case 985..<990: shelf.spare = shelf.spare == nil ? shelf.books : nil
        default: shelf.spare?[key] = "spare"
        }
    }

    private func numbered(_ count: Int) -> Shelf {
        Shelf(books: TrackedDictionary((0..<count).map { ($0, "a title") }))
    }

    @Test func `have what was removed, updated and inserted, each in the order of the dictionary`() throws {
        var shelf = numbered(1000)
        let base = try DeltaBase(of: shelf)
        for key in [700, 3, 12] { shelf.books[key] = "another title" }
        for key in [900, 4] { shelf.books[key] = nil }
        for key in [5000, 3000] { shelf.books[key] = "new" }
        shelf.books[3001] = "new"
        shelf.books[3001] = nil
        let updated = #"[3, "another title", 12, "another title", 700, "another title"]"#
        #expect(
            try CBOR.diagnose(Delta.encode(since: base, to: shelf))
                == #"{"books": [["books"], [4, 900], \#(updated), [5000, "new", 3000, "new"]], "number": 0}"#)
    }

    @Test func `are as large as the change, however often it was made and the state copied`() throws {
        var shelf = numbered(10_000)
        let base = try DeltaBase(of: shelf)
        var copies: [Shelf] = []
        for round in 0..<200 {
            for key in 0..<1000 { shelf.books[key % 10] = "title \(round)" }
            if round % 3 == 0 { copies.append(shelf) }
        }
        #expect(try Delta.encode(since: base, to: shelf).count < 250)
        #expect(copies.count == 67)
    }

    @Test func `hold half of a dictionary, and larger changes are sent as a whole`() throws {
        var shelf = numbered(10_000)
        let (base, old) = (try DeltaBase(of: shelf), try CBOR.encode(shelf).count)
        for key in 0..<4000 { shelf.books[key] = "b title" }
        let half = try Delta.encode(since: base, to: shelf)
        #expect(half.count < old * 6 / 10)
        for key in 0..<9000 { shelf.books[key] = "b title" }
        let whole = try Delta.encode(since: base, to: shelf)
        var state = numbered(10_000)
        try Delta.apply(whole, to: &state)
        #expect(state == shelf)
    }
}
