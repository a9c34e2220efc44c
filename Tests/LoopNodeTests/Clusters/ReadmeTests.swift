import Foundation
import LoopCore
import LoopNode
import Testing
import ZMQ

/// The README's example is the file that is compiled here, and does what it says.
@Suite(.timeLimit(.minutes(5))) struct `The README's example` {
    private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test func `the definition in the README is the one that is compiled`() throws {
        let example = try Self.text("Tests/LoopNodeTests/Clusters/ReadmeExample.swift")
        #expect(try Self.text("README.md").contains("```swift\n\(example)```"))
    }

    @Test func `both executables in the README call what there is`() throws {
        let reducer: () async -> Never = { await ReducerNode.main(Primes()) }
        let worker: () async -> Never = { await EffectNode.main(Primes()) }
        _ = (reducer, worker)
        let readme = try Self.text("README.md")
        #expect(readme.contains("static func main() async { await ReducerNode.main(Primes()) }"))
        #expect(readme.contains("static func main() async { await EffectNode.main(Primes()) }"))
    }

    @Test func `a reducer and two workers count the primes`() async throws {
        let context = try ZMQContext()
        let address: ReducerAddress = "inproc://readme"
        let reducer = try ReducerNode(Primes(), configuration: .test(address, context))
        let workers = try (0..<2).map { try EffectNode(Primes(), configuration: .test(address, context, "w\($0)")) }
        async let outcome = reducer.run()
        async let first = workers[0].run()
        async let second = workers[1].run()
        #expect(try await outcome == Outcome(text: "9592 primes below 100,000"))
        #expect(try await first == .loopEnded(exitCode: 0, text: "9592 primes below 100,000"))
        #expect(try await second == .loopEnded(exitCode: 0, text: "9592 primes below 100,000"))
    }

    @Test func `the same definition runs in one process`() async throws {
        let loop = Loop(Primes())
        var last = loop.state
        for await state in loop.states { last = state }
        #expect(last.waiting.isEmpty && last.found == 9592)
    }
}
