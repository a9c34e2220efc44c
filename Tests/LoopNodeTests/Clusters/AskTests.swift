import CBOR
import LoopCore
import LoopNode
import LoopWire
import Testing

/// `Jobs` as a build knows it whose answers are of another type.
private struct OtherJobs: LoopDefinition {
    static let name = Jobs.name
    let jobs = Jobs()

    var initial: Jobs.State { jobs.initial }
    var feedbacks: [Feedback<Jobs.State, Jobs.Event>] { jobs.feedbacks }

    func reduce(into state: inout Jobs.State, _ event: Jobs.Event, _ transition: Transition) {
        jobs.reduce(into: &state, event, transition)
    }

    func answer(to event: Jobs.Event, in state: Jobs.State) -> Int? { state.total }
}

@Suite(.timeLimit(.minutes(5))) struct `A handle asks` {
    @Test func `and is answered by the state right after its event, whatever else is sent meanwhile`() async throws {
        let cluster = try TestCluster("ask-many", Jobs(ends: false))
        let remote = try cluster.remote()
        try await withThrowingTaskGroup(of: (answer: Jobs.Answer, id: StateID).self) { group in
            for _ in 0..<200 { group.addTask { try await remote.ask(.add(1)) } }
            // Each event adds one job, and none is done: the answer of the event at a seq has as many jobs.
            for try await (answer, id) in group {
                #expect(answer == .count(total: Int(id.seq.value), waiting: Int(id.seq.value)))
            }
        }
        await remote.close()
        try await cluster.stop()
    }

    @Test func `and hears that an event without an answer was applied`() async throws {
        let cluster = try TestCluster("ask-nothing")
        let remote = try cluster.remote()
        await #expect(throws: AskError.unanswered(at: Seq(1), .undefined)) {
            try await remote.ask(.forget(3))
        }
        let other = try RemoteLoop(
            OtherJobs.self, reducer: cluster.address, context: cluster.context, log: .silent)
        let error = await #expect(throws: AskError.self) { try await other.ask(.add(1)) }
        await other.close()
        #expect(error?.seq == Seq(2))
        #expect(error?.description.contains("not of the type that was asked for") == true)
        #expect(try await remote.sendAndConfirm(.note("after")).seq == Seq(3))
        await remote.close()
        try await cluster.stop()
    }

    @Test func `and hears why its event was refused`() async throws {
        let cluster = try TestCluster("ask-refused")
        let remote = try cluster.remote()
        let connection = try RemoteConnection(
            loop: Jobs.name, reducer: cluster.address, name: "bytes", context: cluster.context,
            log: .silent)
        let why = "malformed bytes at offset 0: a break where nothing can end"
        await #expect(throws: AskError.refused(SendRefusal(.undecodable, detail: why))) {
            try await connection.ask([0xff])
        }
        let large = Jobs.Event.note(String(repeating: "n", count: 600 << 10))
        let error = await #expect(throws: AskError.self) { try await remote.ask(large) }
        guard case .refused(let refusal) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(refusal.reason == .tooLarge)
        await connection.close()
        await remote.close()
        await #expect(throws: AskError.self) { try await remote.ask(.add(1)) }
        try await cluster.stop()
    }

    @Test func `for bytes, where it does not know the definition`() async throws {
        let cluster = try TestCluster("ask-bytes", transport: "ipc")
        let connection = try RemoteConnection(
            loop: "", reducer: cluster.address, name: "bytes", context: cluster.context,
            log: .silent)
        let (answer, state) = try await connection.ask(try CBOR.encode(Jobs.Event.note("hello")))
        #expect(try CBOR.decode(Jobs.Answer.self, from: answer) == .notes(["hello"]))
        #expect(state.seq == Seq(1))
        await connection.close()
        try await cluster.stop()
    }
}

@Suite(.timeLimit(.minutes(5))) struct `A handle reads` {
    @Test func `what it has written: the state at the seq of its own event or after it`() async throws {
        let cluster = try TestCluster("read-own", Jobs(ends: false))
        let remote = try cluster.remote()
        for count in 1...20 {
            let id = try await remote.sendAndConfirm(.add(1))
            let (at, state) = try await remote.state(atLeast: id)
            #expect(at >= id.seq && state.total >= count)
        }
        let (_, id) = try await remote.ask(.note("asked"))
        #expect(try await remote.state(atLeast: id).state.notes == ["asked"])
        await remote.close()
        try await cluster.stop()
    }

    @Test func `through the reducer what others were told before it read`() async throws {
        let cluster = try TestCluster("read-current", Jobs(ends: false))
        let (reader, writer) = (try cluster.remote(), try cluster.remote())
        for count in 1...20 {
            try await writer.sendAndConfirm(.add(1))
            #expect(try await reader.currentState().state.total == count)
        }
        await writer.close()
        await reader.close()
        try await cluster.stop()
    }

    @Test func `what it knows, with its age`() async throws {
        let cluster = try TestCluster("read-known", Jobs(ends: false))
        let remote = try cluster.remote()
        let id = try await remote.sendAndConfirm(.add(3))
        _ = try await remote.state(atLeast: id)
        let known = try #require(remote.knownState)
        #expect(known.id == id && known.state.total == 3)
        #expect(known.age >= .zero)
        await remote.close()
        try await cluster.stop()
    }

    @Test func `no state of a loop that has ended before`() async throws {
        let cluster = try TestCluster("read-ended", Jobs(placement: .local))
        let remote = try cluster.remote()
        var id = try await remote.sendAndConfirm(.add(1))
        _ = try await cluster.outcome
        id.seq = Seq(id.seq.value + 100)
        let later = id
        await #expect(throws: NodeError.self) { try await remote.state(atLeast: later) }
        await remote.close()
    }
}
