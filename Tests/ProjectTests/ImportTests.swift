import Foundation
import Testing

/// The compiler lets any target import Foundation, Glibc and Dispatch, so the border around the pure code is kept here.
@Suite struct `The pure modules` {
    /// What each may import in addition to the language's own modules.
    private static let neighbours: [String: Set<String>] = [
        "LoopCollections": [],
        "LoopCore": ["LoopCollections"],
        "LoopCompatibility": ["LoopCollections", "LoopCore"],
        "LoopView": ["LoopCollections", "LoopCore"],
        // CMemory is memory that grows without a copy.
        "CBOR": ["CMemory", "LoopCollections"],
        "LoopWire": ["CBOR", "LoopCollections", "LoopCore"],
        "LoopKeys": [],
        "LoopCluster": ["CBOR", "LoopCollections", "LoopCore", "LoopKeys", "LoopWire"],
        "LoopTesting": ["CBOR", "LoopCollections", "LoopCore", "LoopWire"],
        "LoopSimulation": [
            "CBOR", "LoopCollections", "LoopCore", "LoopKeys", "LoopWire", "LoopCluster", "LoopTesting",
        ],
    ]
    /// What the files of the locks may import: the mutexes, signal masks and clocks of the system.
    private static let locks: Set<String> = ["Darwin", "Glibc"]
    private static let language: Set<String> = ["Swift", "_Concurrency", "Synchronization", "Observation"]

    @Test(arguments: neighbours.keys.sorted())
    func `import the language, their neighbours, and nothing that touches the world`(module: String) throws {
        let files = Repository.files(below: "Sources/\(module)", suffix: ".swift")
        #expect(!files.isEmpty)
        let neighbours = try #require(Self.neighbours[module])
        for file in files {
            let allowed = Self.language.union(neighbours).union(file.contains("/Locks/") ? Self.locks : [])
            for name in Self.imports(in: try Repository.text(file)) where !allowed.contains(name) {
                Issue.record(
                    "\(file) imports \(name); \(module) may import \(allowed.sorted().joined(separator: ", "))")
            }
        }
    }

    @Test(arguments: neighbours.keys.sorted())
    func `depend on no more than they may import`(module: String) throws {
        let target = try #require(try Manifest.ofLoop.get().targets.first { $0.name == module })
        #expect(target.dependencyNames.isSubset(of: try #require(Self.neighbours[module])))
    }

    /// The modules that a file imports, whatever stands before and after `import`.
    static func imports(in text: String) -> [String] {
        let kind = /^\s*(?:@\w+(?:\([^)]*\))?\s+|public\s+|package\s+|internal\s+|fileprivate\s+|private\s+)*import\s+/
        let detail = /(?:(?:struct|class|enum|protocol|func|var|let|typealias|actor)\s+)?(\w+)/
        return text.split(whereSeparator: \.isNewline).compactMap { line in
            guard let start = try? kind.prefixMatch(in: line) else { return nil }
            return (try? detail.prefixMatch(in: line[start.range.upperBound...])).map { String($0.output.1) }
        }
    }

    @Test(arguments: [
        ("import Foundation", ["Foundation"]), ("  @preconcurrency public import Glibc // x", ["Glibc"]),
        ("@_spi(A) @testable import LoopCore", ["LoopCore"]), ("import struct Foundation.URL", ["Foundation"]),
        ("internal import CLinux", ["CLinux"]), ("// import Glibc", []), ("let important = 1", []),
    ])
    func `have imports that are found however they are written`(line: String, modules: [String]) {
        #expect(Self.imports(in: line) == modules)
    }
}
