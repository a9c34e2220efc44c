import LoopCollections
import LoopCore
import Synchronization
import Testing

@Suite struct `Equality of tracked dictionaries` {
    typealias Tracked = TrackedDictionary<Int, Int>

    @Test func `a value that is set to what it was is no change`() {
        let old = Tracked((0..<100).map { ($0, $0) })
        var new = old
        new[7] = 7
        #expect(new == old)
        new[7] = 8
        #expect(new != old)
    }

    @Test(arguments: 1...15) func `is that of their entries in order, whatever their past`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let keys = [4, 30, 400][Int(seed % 3)]
        var versions: [Tracked] = [[:]]
        for _ in 0..<60 {
            var next = versions[Int.random(in: 0..<versions.count, using: &random)]
            for _ in 0..<Int.random(in: 0..<30, using: &random) { change(&next, keys, &random) }
            if Int.random(in: 0..<10, using: &random) == 0 { next = next.filter { $0.key % 3 != 0 } }
            for old in versions.suffix(5) + versions.prefix(2) {
                #expect((old == next) == (old.map { [$0, $1] } == next.map { [$0, $1] }), "seed \(seed)")
            }
            // A dictionary with equal entries and another past is equal.
            #expect(Tracked(next.map { ($0, $1) }) == next, "seed \(seed)")
            versions.append(next)
        }
    }

    private func change(_ dictionary: inout Tracked, _ keys: Int, _ random: inout SeededRandom) {
        let key = Int.random(in: 0..<keys, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: dictionary[key] = nil
        case 1: dictionary[key]? += 1
        default: dictionary[key] = Int.random(in: 0..<3, using: &random)
        }
    }

    /// A value that counts how often two are compared.
    private struct Counted: Equatable {
        static let compared = Atomic(0)
        var number: Int

        static func == (a: Counted, b: Counted) -> Bool {
            compared.wrappingAdd(1, ordering: .relaxed)
            return a.number == b.number
        }
    }

    @Test func `finding it takes what was changed, not what there is`() {
        let old = TrackedDictionary((0..<65_536).map { ($0, Counted(number: $0)) })
        var new = old
        new[40_000] = Counted(number: 0)
        #expect(new != old)
        // One leaf has a changed entry; its neighbours are the same bit for bit.
        #expect(Counted.compared.load(ordering: .relaxed) == 1)
        new[40_000] = Counted(number: 40_000)
        // The tree of the new one is higher for a while, and stays so.
        new[65_536] = Counted(number: 1)
        new[65_536] = nil
        #expect(new == old)
        #expect(old == new)
        #expect(Counted.compared.load(ordering: .relaxed) == 1)
    }

    @Test func `dictionaries without a common past are compared entry by entry`() {
        let old = Tracked((0..<100).map { ($0, $0) })
        #expect(old == Tracked((0..<110).filter { $0 < 100 }.map { ($0, $0) }))
        #expect(old != Tracked((0..<100).reversed().map { ($0, $0) }))
        var later = Tracked((-10..<100).map { ($0, $0) })
        for key in -10..<0 { later[key] = nil }
        #expect(later == old)
        later[50] = 0
        #expect(later != old)
    }
}
