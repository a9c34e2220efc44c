import Foundation
import LoopCore
import LoopFuzzing
import Testing

/// Every kind of input, valid and changed in its structure, by the targets that `make fuzz` runs. What holds for them is in
/// `FuzzTarget`; a trap would end the process, and the tests with it.
@Suite struct `Bytes from outside` {
    private static let targets = FuzzTarget.all.map(\.name)
    /// Targets that run a whole machine for each input.
    private static let slow: Set<String> = [
        "replay", "snapshots", "crash-notes", "rows", "files", "outbox", "key-folders", "reducer", "peer",
    ]

    private static func target(_ name: String) throws -> FuzzTarget {
        try #require(FuzzTarget.all.first { $0.name == name })
    }

    private static func corpus(of name: String) throws -> [FuzzSeed] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Fuzzing/Corpus")
        return try FuzzCorpus.seeds(in: folder.appendingPathComponent("\(name).txt").path)
    }

    private static func check(_ target: FuzzTarget, _ bytes: [UInt8], _ what: String) {
        do {
            try target.run(bytes)
        } catch {
            let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            Issue.record("\(target.name), \(what): \(error); the input: \(digits)")
        }
    }

    @Test(arguments: targets) func `of the corpus keep what is promised`(name: String) throws {
        let target = try Self.target(name)
        let seeds = try target.seeds() + Self.corpus(of: name)
        #expect(!seeds.isEmpty)
        for seed in seeds { Self.check(target, seed.bytes, seed.name) }
    }

    @Test(arguments: targets) func `changed in pieces, lengths and numbers keep what is promised`(name: String) throws {
        let target = try Self.target(name)
        let seeds = try target.seeds() + Self.corpus(of: name).suffix(60)
        var mutator = ByteMutator(random: SeededRandom(seed: 11))
        for round in 0..<(Self.slow.contains(name) ? 60 : 600) {
            let bytes = mutator.mutated(
                seeds[round % seeds.count].bytes, with: seeds[(round &* 7 + 3) % seeds.count].bytes)
            Self.check(target, bytes, "round \(round)")
        }
    }

    @Test(arguments: ["cbor-values", "cbor-text", "documents"])
    func `changed item by item keep what is promised`(name: String) throws {
        let target = try Self.target(name)
        let trees = try (Self.target("documents").seeds() + Self.corpus(of: name)).compactMap { CBORTree($0.bytes) }
        #expect(trees.count > 20)
        var mutator = CBORMutator(random: SeededRandom(seed: 12))
        for round in 0..<600 {
            let bytes = mutator.mutated(trees[round % trees.count], with: trees[(round &* 5 + 2) % trees.count])
            Self.check(target, bytes, "round \(round)")
        }
    }

    @Test func `have a corpus of every target, and nothing else`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Fuzzing/Corpus")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.sorted() == Self.targets.map { "\($0).txt" }.sorted())
    }
}
