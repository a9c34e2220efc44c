import LoopCollections
import LoopCore
import Testing

@Suite struct `Changes of tracked dictionaries` {
    typealias Tracked = TrackedDictionary<Int, Int>

    @Test func `they tell what was removed, updated in place and inserted, in order`() {
        let old: Tracked = [5: 0, 1: 1, 3: 3, 2: 2]
        var new = old
        new[3] = nil
        new[2] = 20
        new[9] = 9
        new[5] = nil
        new[5] = 0
        let changes = new.changes(since: old)
        #expect(changes.removed == [5, 3])
        #expect(changes.updated.map(\.key) == [2])
        #expect(changes.inserted.map(\.key) == [9, 5])
        #expect(new.changes(since: new).isEmpty)
    }

    @Test func `a value that is set to what it was is no change`() {
        let old = Tracked((0..<100).map { ($0, $0) })
        var new = old
        new[7] = 7
        #expect(new.changes(since: old).isEmpty)
        #expect(new == old)
    }

    @Test(arguments: 1...15) func `made on the old one they give the new one, whatever their past`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let keys = [4, 30, 400][Int(seed % 3)]
        var versions: [Tracked] = [[:]]
        for _ in 0..<60 {
            var next = versions[Int.random(in: 0..<versions.count, using: &random)]
            for _ in 0..<Int.random(in: 0..<30, using: &random) { change(&next, keys, &random) }
            if Int.random(in: 0..<10, using: &random) == 0 { next = next.filter { $0.key % 3 != 0 } }
            for old in versions.suffix(5) + versions.prefix(2) { check(from: old, to: next, seed) }
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

    private func check(from old: Tracked, to new: Tracked, _ seed: UInt64) {
        let changes = new.changes(since: old)
        var made = old
        changes.apply(to: &made)
        #expect(Array(made.keys) == Array(new.keys), "seed \(seed)")
        #expect(made == new, "seed \(seed)")
        // A last entry that was removed and came back is reported as such.
        #expect(!changes.isEmpty || old == new, "seed \(seed)")
        #expect(old != new || changes.removed == changes.inserted.map(\.key), "seed \(seed)")
        #expect((old == new) == (old.map { [$0, $1] } == new.map { [$0, $1] }), "seed \(seed)")
        let inserted = Set(changes.inserted.map(\.key))
        let removed = Set(changes.removed)
        #expect(changes.removed.allSatisfy { old.contains($0) && (!new.contains($0) || inserted.contains($0)) })
        #expect(inserted.allSatisfy { !old.contains($0) || removed.contains($0) })
        #expect(changes.updated.allSatisfy { old[$0.key] != nil && old[$0.key] != $0.value })
    }

    @Test func `finding them takes what they are, not what there is`() {
        let old = Tracked((0..<50_000).map { ($0, $0) })
        var new = old
        new[40_000] = 0
        new[20] = nil
        new[60_000] = 1
        var compared = 0
        let changes = new.changes(since: old) { a, b in
            compared += 1
            return a == b
        }
        #expect(changes.count == 3)
        // One leaf has a changed entry; its neighbours are the same bit for bit.
        #expect(compared == 1)
    }

    @Test func `dictionaries without a common past are compared entry by entry`() {
        let old = Tracked((0..<100).map { ($0, $0) })
        var new = Tracked((10..<110).map { ($0, $0) })
        new[50] = 0
        let changes = new.changes(since: old)
        #expect(changes.removed == Array(0..<10))
        #expect(changes.updated.map(\.key) == [50])
        #expect(changes.inserted.map(\.key) == Array(100..<110))
    }
}
