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

    @Test func `39 mutate changes a registered field of a loop that runs elsewhere, through its reducer`() async throws
    {
        let context = try ZMQContext()
        let address: ReducerAddress = "inproc://view-fields"
        let reducer = try ReducerNode(Profile(), configuration: .test(address, context))
        let run = Task { try await reducer.run() }
        let remote = try RemoteLoop(Profile.self, reducer: address, context: context, log: .silent)
        let store = Store(remote, showing: Profile.State())
        store.mutate(keyPath: \.name, value: "Ann")
        store.context.binding(for: \.address.city).value = "Rome"
        await until({ store.state }, { $0.name == "Ann" && $0.address.city == "Rome" })
        #expect(store.state.changes == 2)
        store.mutate(keyPath: \.changes, value: 0)
        await until({ store.problem }, { $0 != nil })
        #expect(store.problem?.description.contains(".changes cannot be changed from another process") == true)
        reducer.stop()
        _ = try await run.value
    }

    private struct Profile: LoopDefinition, RegisteredFields {
        struct State: Codable, Equatable, Sendable {
            var name = ""
            var address = Address()
            var changes = 0
        }

        struct Address: Codable, Equatable, Sendable {
            var city = ""
        }

        enum Event: Codable, Sendable {
            case set(FieldChange)
        }

        static let name = "profile"
        static let fields: Fields<State> = [Field("name", \.name), Field("city", \.address.city)]
        static func set(_ change: FieldChange) -> Event { .set(change) }
        let initial = State()

        func reduce(into state: inout State, _ event: Event, _: Transition) {
            switch event {
            case .set(let change): if Self.fields.apply(change, to: &state) { state.changes += 1 }
            }
        }

        var feedbacks: [Feedback<State, Event>] { [] }
    }
}
