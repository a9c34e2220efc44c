import Foundation
import LoopCollections
import LoopCore
import Testing

/// Random histories of a `TrackedDictionary`, its copies and their copies, against a dictionary and an array of keys.
///
/// `LOOP_MODEL_SEEDS=2000 swift test -c release --filter 'dictionaries against their model'` takes a million steps.
@Suite struct `Tracked dictionaries against their model` {
    static let seeds = ProcessInfo.processInfo.environment["LOOP_MODEL_SEEDS"].flatMap { UInt64($0) } ?? 12

    @Test(arguments: 1...seeds) func `a random history gives the same entries in the same order`(seed: UInt64) {
        run(seed: seed, steps: 600, keys: [5, 40, 300, 3000][Int(seed % 4)]) { $0 }
    }

    @Test(arguments: 1...3) func `keys whose hashes are alike are kept apart`(seed: UInt64) {
        run(seed: seed, steps: 600, keys: 60) { Colliding(number: $0, hash: 0) }
        run(seed: seed, steps: 600, keys: 200) { Colliding(number: $0, hash: $0 % 7) }
    }

    @Test(arguments: 1...3) func `text keys are kept apart`(seed: UInt64) {
        run(seed: seed, steps: 400, keys: 100) { "https://example.org/a/page/with/a/long/path/\($0)" }
    }

    @Test(arguments: [(1 << 20) - 30, (1 << 32) - 30, (1 << 39) - 30])
    func `what has come and gone before leaves no trace`(firstOrdinal: Int) {
        for seed in 1...2 { run(seed: UInt64(seed), steps: 400, keys: 80, firstOrdinal: firstOrdinal) { $0 } }
    }

    @Test func `after a trillion insertions it starts to count again`() {
        for seed in 1...3 { run(seed: UInt64(seed), steps: 300, keys: 80, firstOrdinal: (1 << 40) - 40) { $0 } }
    }

    /// Runs a random history; if it fails, reports the shortest part of it that fails.
    private func run<Key: Hashable & Sendable>(
        seed: UInt64, steps: Int, keys: Int, firstOrdinal: Int = 0, key: @escaping (Int) -> Key
    ) {
        var random = SeededRandom(seed: seed)
        let steps = (0..<steps).map { _ in DictionaryStep.random(keys: keys, &random) }
        guard var wrong = Self.failure(steps, firstOrdinal, key) else { return }
        var shortest = Array(steps[...wrong.position])
        var chunk = shortest.count / 2
        while chunk > 0 {
            var start = 0
            while start < shortest.count {
                var shorter = shortest
                shorter.removeSubrange(start..<min(start + chunk, shorter.count))
                if let found = Self.failure(shorter, firstOrdinal, key) {
                    wrong = found
                    shortest = Array(shorter[...found.position])
                } else {
                    start += chunk
                }
            }
            chunk /= 2
        }
        Issue.record("seed \(seed): \(wrong.why) after \(shortest)")
    }

    private static func failure<Key: Hashable & Sendable>(
        _ steps: [DictionaryStep], _ firstOrdinal: Int, _ key: @escaping (Int) -> Key
    ) -> (position: Int, why: String)? {
        var history = DictionaryHistory(firstOrdinal: firstOrdinal, key: key)
        for (position, step) in steps.enumerated() {
            if let why = history.take(step) { return (position, why) }
        }
        return history.check().map { (steps.count - 1, $0) }
    }
}

/// A key that chooses its hash.
struct Colliding: Hashable, Sendable {
    var number: Int
    var hash: Int

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
