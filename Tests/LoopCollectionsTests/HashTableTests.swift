import LoopCollections
import LoopCore
import Testing

/// The table against the standard library's dictionary.
@Suite struct `Hash tables` {
    /// A key with a hash of its own choice.
    struct Clumsy: MixedKey, Hashable {
        let number: Int
        /// Few hashes for many keys: they stand in each other's way.
        var mixed: UInt64 { UInt64(number % 5) }
    }

    static func effect(_ number: Int) -> EffectID {
        EffectID(feedback: UInt32(number % 3), seq: Seq(UInt64(number / 12)), index: UInt32(number / 3 % 4))
    }

    @Test(arguments: 1...8) func `hold what a dictionary holds, and their copies stay`(seed: UInt64) {
        compare(seed, keys: [4, 40, 400, 4000][Int(seed % 4)]) { Self.effect($0) }
        compare(seed, keys: 60) { Clumsy(number: $0) }
    }

    private func compare<Key: MixedKey & Hashable>(_ seed: UInt64, keys: Int, _ key: (Int) -> Key) {
        var random = SeededRandom(seed: seed)
        var table = HashTable<Key, String>()
        var model: [Key: String] = [:]
        var copies: [(table: HashTable<Key, String>, model: [Key: String])] = []
        for step in 0..<4000 {
            let key = key(Int.random(in: 0..<keys, using: &random))
            let value = "value \(step) that has memory of its own"
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<4: (table[key], model[key]) = (value, value)
            case 4:
                table[key]?.append("!")
                model[key]?.append("!")
            case 5:
                if let place = table.index(forKey: key) {
                    table[at: place] = value
                    model[key] = value
                }
            case 6..<8: #expect(table.removeValue(forKey: key) == model.removeValue(forKey: key))
            case 8: (table[key], model[key]) = (nil, nil)
            case 9 where step % 50 == 0: copies.append((table, model))
            case 10 where step % 400 == 0:
                table.removeAll()
                model.removeAll()
            default:
                #expect(table[key] == model[key])
                // A place that has a key is the place of that key, and of no other.
                let place = Int.random(in: 0...keys, using: &random)
                #expect(table.has(key, at: place) == (table.index(forKey: key) == place))
            }
            #expect(table.count == model.count)
        }
        copies.append((table, model))
        for (table, model) in copies {
            #expect(Dictionary(uniqueKeysWithValues: table.map { ($0.key, $0.value) }) == model)
            #expect(model.allSatisfy { table[$0.key] == $0.value && table.contains($0.key) })
        }
    }

    @Test func `of the same history are gone through in the same order`() {
        func made() -> [EffectID] {
            var table = HashTable<EffectID, Int>()
            for number in 0..<100 { table[Self.effect(number)] = number }
            for number in stride(from: 0, to: 100, by: 3) { table[Self.effect(number)] = nil }
            for number in 100..<120 { table[Self.effect(number)] = number }
            return table.keys
        }
        #expect(made() == made())
        #expect(Set(made()).count == 86)
    }

    @Test func `with the same entries are equal, whatever their history`() {
        var (a, b) = (HashTable<EffectID, Int>(), HashTable<EffectID, Int>())
        for number in 0..<50 { a[Self.effect(number)] = number }
        for number in (0..<80).reversed() { b[Self.effect(number)] = number }
        #expect(a != b)
        for number in 50..<80 { b[Self.effect(number)] = nil }
        #expect(a == b)
        b[Self.effect(7)] = 8
        #expect(a != b)
    }

    @Test func `as sets know what is in them`() {
        var (set, model) = (HashTable<EffectID, Void>(), Set<EffectID>())
        var random = SeededRandom(seed: 5)
        for _ in 0..<2000 {
            let id = Self.effect(Int.random(in: 0..<90, using: &random))
            if Bool.random(using: &random) {
                set.updateValue((), forKey: id)
                model.insert(id)
            } else {
                set.removeValue(forKey: id)
                model.remove(id)
            }
            #expect(set.contains(id) == model.contains(id))
        }
        #expect(set.keys.sorted() == model.sorted())
        #expect(set.count == model.count)
    }

    /// What stands at one place is a chain; the names of effects must not make long ones.
    @Test func `mix the names of effects well`() {
        for (feedbacks, seqs, indices) in [(1, 4096, 1), (1, 1, 4096), (4, 64, 16), (64, 64, 1)] {
            var homes: [UInt64: Int] = [:]
            for feedback in 0..<feedbacks {
                for seq in 0..<seqs {
                    for index in 0..<indices {
                        let id = EffectID(
                            feedback: UInt32(feedback), seq: Seq(UInt64(seq) * 8), index: UInt32(index))
                        homes[id.mixed & 8191, default: 0] += 1
                    }
                }
            }
            // 4096 thrown into 8192 by chance: some 3220 places are taken, the fullest by six or seven.
            #expect(homes.count > 2900, "\(feedbacks) \(seqs) \(indices)")
            #expect(homes.values.max() ?? 0 < 12, "\(feedbacks) \(seqs) \(indices)")
        }
    }
}
