import LoopCore
import LoopNode
import LoopWire
import Testing
import ZMQ

/// Whole clusters inside one process, by the same code that runs over TCP.
@Suite(.timeLimit(.minutes(5))) struct `Clusters over inproc` {
    @Test func `jobs added by an observer are done by workers, and the loop ends with its outcome`() async throws {
        let context = try ZMQContext()
        let address: ReducerAddress = "inproc://jobs-all"
        let reducer = try ReducerNode(Jobs(), configuration: .test(address, context))
        async let outcome = reducer.run()
        let workers = try (0..<2).map { try EffectNode(Jobs(), configuration: .test(address, context, "w\($0)")) }
        async let first = workers[0].run()
        async let second = workers[1].run()
        let remote = try RemoteLoop(Jobs.self, reducer: address, context: context, log: .silent)
        let seq = try await remote.sendAndConfirm(.add(100)).seq
        #expect(seq == Seq(1))
        #expect(try await outcome == Outcome(text: "sum 328350"))
        #expect(try await first == .loopEnded(exitCode: 0, text: "sum 328350"))
        #expect(try await second == .loopEnded(exitCode: 0, text: "sum 328350"))
        await remote.close()
    }

    @Test func `G10 a sender that is ahead of the reducer waits for room, and goes on`() async throws {
        let context = try ZMQContext()
        let address: ReducerAddress = "inproc://jobs-ahead"
        let reducer = try ReducerNode(Jobs(placement: .local), configuration: .test(address, context))
        async let outcome = reducer.run()
        let remote = try RemoteLoop(Jobs.self, reducer: address, context: context, log: .silent)
        // More than its outbox holds, and more than once.
        for _ in 0..<20_000 { try await remote.send(.forget(0)) }
        #expect(try await remote.sendAndConfirm(.add(1)).seq == Seq(20_001))
        #expect(try await outcome == Outcome(text: "sum 0"))
        await remote.close()
    }

    @Test func `nodes end when their tasks are cancelled, and a worker that has no reducer too`() async throws {
        let context = try ZMQContext()
        let address: ReducerAddress = "inproc://jobs-cancelled"
        let reducer = try ReducerNode(Jobs(), configuration: .test(address, context))
        let owner = Task { try await reducer.run() }
        let worker = try EffectNode(Jobs(), configuration: .test(address, context, "w"))
        let helper = Task { try await worker.run() }
        let remote = try RemoteLoop(Jobs.self, reducer: address, context: context, log: .silent)
        _ = try await remote.sendAndConfirm(.forget(0))
        helper.cancel()
        #expect(try await helper.value == .stopped)
        await remote.close()
        owner.cancel()
        #expect(try await owner.value == nil)
        let lonely = try EffectNode(Jobs(), configuration: .test("inproc://jobs-nowhere", context, "w"))
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await lonely.run()
        }
        #expect(try await early.value == .stopped)
    }

    @Test func `effects placed locally run in the reducer's own process`() async throws {
        let context = try ZMQContext()
        let address: ReducerAddress = "inproc://jobs-local"
        let reducer = try ReducerNode(Jobs(placement: .local), configuration: .test(address, context))
        async let outcome = reducer.run()
        let remote = try RemoteLoop(Jobs.self, reducer: address, context: context, log: .silent)
        try await remote.send(.add(10))
        #expect(try await outcome == Outcome(text: "sum 285"))
        await remote.close()
    }
}

extension ReducerNodeConfiguration {
    static func test(_ address: ReducerAddress, _ context: ZMQContext) throws -> ReducerNodeConfiguration {
        ReducerNodeConfiguration(bind: try BindAddress(address), journal: .memory, context: context, log: .silent)
    }
}

extension EffectNodeConfiguration {
    static func test(_ address: ReducerAddress, _ context: ZMQContext, _ name: String) -> EffectNodeConfiguration {
        EffectNodeConfiguration(reducer: address, name: name, context: context, log: .silent)
    }
}
