import LoopApp
import LoopCore
import LoopNode
import LoopView
import LoopWire
import Testing
import ZMQ

/// Stores of loops that run in another process, with both processes in this one.
@Suite(.timeLimit(.minutes(5))) struct `Stores of remote loops` {
    @Test func `a store shows a loop that runs elsewhere, and sends it events in order`() async throws {
        let cluster = try TestCluster(
            "view-shows", Jobs(placement: .local, ends: false), silenceLimit: .milliseconds(500))
        let store = Store(try cluster.remote(), showing: Jobs.State())
        #expect(store.connection == .connecting)
        for count in 1...3 { store.send(event: .add(count)) }
        for word in ["a", "b", "c"] { store.send(event: .note(word)) }
        await until({ store.state }, { $0.done.count == 6 && $0.notes == ["a", "b", "c"] })
        await until({ store.connection }, { $0 == .live(Seq(12)) })
        #expect(store.problem == nil)
        try await cluster.stop()
        await until({ store.connection }, { !$0.isCurrent })
        #expect(store.state.notes == ["a", "b", "c"])
    }

    @Test func `a loop that has ended has ended in its store`() async throws {
        let cluster = try TestCluster("view-ends", Jobs(placement: .local))
        let store = Store(try cluster.remote(), showing: Jobs.State())
        store.send(event: .add(10))
        await until({ store.connection }, { $0 == .ended(text: "sum 285") })
        store.send(event: .add(1))
        await until({ store.problem }, { $0 != nil })
        #expect(store.problem?.description.contains("the loop has ended") == true)
        _ = try await cluster.outcome
    }

    @Test func `two stores of one loop see each other's changes`() async throws {
        let cluster = try TestCluster("view-two", Jobs(placement: .local, ends: false))
        let stores = try (0..<2).map { _ in Store(try cluster.remote(), showing: Jobs.State()) }
        stores[0].send(event: .note("hello"))
        await until({ stores[1].state.notes }, { $0 == ["hello"] })
        try await cluster.stop()
    }

    @Test func `39 mutate of a loop that runs elsewhere is a problem, and an event changes it`() async throws {
        let context = try ZMQContext()
        let address: ReducerAddress = "inproc://view-mutate"
        let reducer = try ReducerNode(Jobs(placement: .local, ends: false), configuration: .test(address, context))
        let run = Task { try await reducer.run() }
        let remote = try RemoteLoop(Jobs.self, reducer: address, context: context, log: .silent)
        let store = Store(remote, showing: Jobs.State())
        store.mutate(keyPath: \.notes, value: ["mutated"])
        #expect(store.problem == .changedWithoutEvent)
        store.context.binding(for: \.notes, event: { .note($0[0]) }).value = ["sent"]
        await until({ store.state.notes }, { $0 == ["sent"] })
        reducer.stop()
        _ = try await run.value
    }
}
