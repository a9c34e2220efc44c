import CBOR
import LoopCore
import LoopNode
import LoopWire
import Testing
import ZMQ

@Suite(.timeLimit(.minutes(5))) struct `Clusters keep the promises` {
    @Test func `G3 events sent before the reducer runs wait in the outbox and are applied in order`() async throws {
        let context = try ZMQContext()
        let remote = try RemoteLoop(Jobs.self, reducer: "inproc://late", context: context, log: .silent)
        for number in 0..<50 { try await remote.send(.note("\(number)")) }
        let reducer = try ReducerNode(Jobs(), configuration: .test("inproc://late", context))
        async let outcome = reducer.run()
        let seq = try await remote.sendAndConfirm(.note("last")).seq
        #expect(seq == Seq(51))
        for await (_, state) in remote.states where state.notes.count == 51 {
            #expect(state.notes == (0..<50).map(String.init) + ["last"])
            break
        }
        await remote.close()
        reducer.stop()
        _ = try await outcome
    }

    /// The socket was closed before it had sent the last word: the session stayed for a day, and a loop that ended waited for it
    /// as long as a shutdown grace period may take.
    @Test func `a sender that closes is gone at the reducer`() async throws {
        let cluster = try TestCluster("goes", transport: "ipc")
        for number in 0..<20 {
            // Of a context of its own, which ends with it, as a process does.
            let remote = try RemoteLoop(Jobs.self, reducer: cluster.address, log: .silent)
            try await remote.sendAndConfirm(.note("\(number)"))
            await remote.close()
        }
        _ = try await cluster.status { $0.peers.isEmpty }
        try await cluster.stop()
    }

    @Test func `a worker that joins later gets work at once`() async throws {
        let door = Door()
        let cluster = try TestCluster(
            "joins",
            Jobs(work: { job in
                try await door.pass()
                return job
            }))
        let remote = try cluster.remote()
        try await remote.sendAndConfirm(.add(8))
        let first = try cluster.worker("first", capacity: 4)
        _ = try await cluster.status { $0.peers.contains { $0.name == "first" && $0.leases == 4 } }
        let second = try cluster.worker("second", capacity: 4)
        _ = try await cluster.status { $0.peers.contains { $0.name == "second" && $0.leases == 4 } }
        door.open()
        #expect(try await cluster.outcome == Outcome(text: "sum 28"))
        _ = try await (first.end, second.end)
        await remote.close()
    }

    @Test func `a worker that stops hands its work back, and others do it`() async throws {
        let door = Door()
        let cluster = try TestCluster(
            "hands-back",
            Jobs(work: { job in
                try await door.pass()
                return job
            }))
        let remote = try cluster.remote()
        let first = try cluster.worker("first")
        try await remote.sendAndConfirm(.add(5))
        _ = try await cluster.status { $0.feedbacks[0].running == 5 }
        #expect(try await first.stop() == .stopped)
        let left = try await cluster.status { !$0.peers.contains { $0.name == "first" } }
        #expect(left.feedbacks[0].waiting == 5)
        let second = try cluster.worker("second")
        door.open()
        #expect(try await cluster.outcome == Outcome(text: "sum 10"))
        _ = try await second.end
        await remote.close()
    }

    @Test func `G5 an effect whose key vanished is cancelled on its worker`() async throws {
        let door = Door()
        let cluster = try TestCluster(
            "vanish",
            Jobs(
                ends: false,
                work: { job in
                    try await door.pass()
                    return job
                }))
        let remote = try cluster.remote()
        let worker = try cluster.worker("one")
        try await remote.sendAndConfirm(.add(2))
        _ = try await cluster.status { $0.feedbacks[0].running == 2 }
        while door.arrivedCount < 2 { await Task.yield() }
        try await remote.sendAndConfirm(.forget(0))
        while door.cancelledCount < 1 { await Task.yield() }
        door.open()
        let report = try await cluster.status { $0.feedbacks[0].running == 0 }
        #expect(report.parked.isEmpty)
        for await (_, state) in remote.states where !state.done.isEmpty {
            #expect(state.done == [1: 1])
            break
        }
        #expect(try await worker.stop() == .stopped)
        await remote.close()
        try await cluster.stop()
    }

    @Test func `an effect that fails for good is parked and shown, and the loop goes on`() async throws {
        struct Broken: Error {}
        let cluster = try TestCluster(
            "parked",
            Jobs(
                ends: false,
                work: { job in
                    if job == 1 { throw Broken() }
                    return job
                }))
        let remote = try cluster.remote()
        let worker = try cluster.worker("one")
        try await remote.send(.add(3))
        let report = try await cluster.status { $0.parked.count == 1 && $0.feedbacks[0].completed == 2 && $0.seq == 3 }
        #expect(report.parked[0].message.contains("Broken"))
        #expect(report.parked[0].failures == 1)
        #expect(report.counters["effectParked"] == 1)
        _ = try await worker.stop()
        await remote.close()
        try await cluster.stop()
    }

    @Test func `an event beyond the limit is an error of send, and the stream goes on`() async throws {
        let cluster = try TestCluster("large")
        let remote = try cluster.remote()
        try await remote.sendAndConfirm(.note("small"))
        let large = String(repeating: "x", count: 600 << 10)
        await #expect(throws: SendRefusal.self) { try await remote.sendAndConfirm(.note(large)) }
        #expect(try await remote.sendAndConfirm(.note("after")).seq == Seq(2))
        await remote.close()
        try await cluster.stop()
    }

    @Test func `bytes that are no event are refused with their reason, and consume one number`() async throws {
        let cluster = try TestCluster("undecodable")
        let connection = try RemoteConnection(
            loop: "", reducer: cluster.address, name: "stranger", context: cluster.context,
            log: .silent)
        let error = await #expect(throws: SendRefusal.self) {
            _ = try await connection.send(try CBOR.encode(["no": "event"]), confirmed: true)
        }
        #expect(error?.reason == .undecodable)
        #expect(error?.detail.contains(#"no such case of Event: "no""#) == true, "\(String(describing: error))")
        let seq = try await connection.send(try CBOR.encode(Jobs.Event.note("yes")), confirmed: true).seq
        #expect(seq == Seq(1))
        #expect(try await cluster.status().counters["refusedUndecodable"] == 1)
        await connection.close()
        try await cluster.stop()
    }

    @Test func `peers of another loop, schema or definition are refused by name`() async throws {
        let cluster = try TestCluster("refusals")
        let node = try EffectNode(Others(), configuration: .test(cluster.address, cluster.context, "other"))
        let loop = await #expect(throws: NodeError.self) { try await node.run() }
        #expect("\(loop!)".contains("\"jobs\"") && "\(loop!)".contains("\"others\""))
        let local = try EffectNode(
            Jobs(placement: .local), configuration: .test(cluster.address, cluster.context, "differs"))
        let definition = await #expect(throws: NodeError.self) { try await local.run() }
        #expect("\(definition!)".contains("definition"))
        // A peer repeats what is not answered in time, and may be refused more than once.
        #expect(try await cluster.status().counters["joinRefused"] ?? 0 >= 2)
        try await cluster.stop()
    }

    @Test func `binding beyond this machine needs to be asked for`() {
        #expect(throws: NodeError.self) {
            _ = try ReducerNode(Jobs(), configuration: ReducerNodeConfiguration(bind: "tcp://0.0.0.0:7710"))
        }
    }

    @Test func `G9 who follows a loop sees its last state and its last transition before the end`() async throws {
        let cluster = try TestCluster("last-state")
        let remote = try cluster.remote()
        let connection = try RemoteConnection(
            loop: "", reducer: cluster.address, name: "tail", observing: .transitions, context: cluster.context,
            log: .silent)
        let (transitions, seen) = AsyncStream.makeStream(of: Seq.self)
        connection.observe { action in
            switch action {
            case .transitions(let notes): for note in notes { seen.yield(note.seq) }
            case .ended: seen.finish()
            default: break
            }
        }
        // Both subscriptions stand once both have seen something.
        var states = remote.states.makeAsyncIterator()
        _ = await states.next()
        var watched = transitions.makeAsyncIterator()
        var sent = 1
        while try await cluster.status().seq == 0 { try await remote.sendAndConfirm(.note("\(sent)")) }
        async let first = watched.next()
        let poking = Task {
            while !Task.isCancelled { _ = try? await remote.sendAndConfirm(.note("again")) }
        }
        sent = Int(await first?.value ?? 0)
        poking.cancel()
        _ = await poking.value
        #expect(sent > 0)
        let worker = try cluster.worker("one")
        try await remote.send(.add(5))
        #expect(try await cluster.outcome != nil)
        var lastState: Jobs.State?
        while let (_, state) = await states.next() { lastState = state }
        var lastSeq = Seq.initial
        while let seq = await watched.next() { lastSeq = seq }
        #expect(lastState?.done.count == 5)
        #expect(lastSeq.value >= 6)
        _ = try await worker.end
        await connection.close()
        await remote.close()
    }

    @Test func `the same cluster runs over ipc`() async throws {
        let cluster = try TestCluster("ipc", transport: "ipc")
        let remote = try cluster.remote()
        let worker = try cluster.worker("one")
        try await remote.send(.add(20))
        #expect(try await cluster.outcome == Outcome(text: "sum 2470"))
        _ = try await worker.end
        await remote.close()
    }

    @Test func `who watches transitions sees every event with its seq`() async throws {
        let cluster = try TestCluster("tail")
        let connection = try RemoteConnection(
            loop: "", reducer: cluster.address, name: "tail", observing: .transitions, context: cluster.context,
            log: .silent)
        let (seen, notes) = AsyncStream.makeStream(of: TransitionNote.self)
        connection.observe { action in
            if case .transitions(let new) = action { for note in new { notes.yield(note) } }
        }
        // The subscription is proven once an event of ours comes back.
        _ = try await connection.send(try CBOR.encode(Jobs.Event.note("first")), confirmed: true)
        let remote = try cluster.remote()
        var next = 1
        var last: TransitionNote?
        try await remote.sendAndConfirm(.note("\(next)"))
        for await note in seen {
            last = note
            if next == 3 { break }
            next += 1
            try await remote.sendAndConfirm(.note("\(next)"))
        }
        #expect(last.map { try? CBOR.decode(Jobs.Event.self, from: $0.event) } != nil)
        await connection.close()
        await remote.close()
        try await cluster.stop()
    }
}

/// Another loop, for refusals.
struct Others: LoopDefinition {
    static let name = "others"
    let initial = 0
    func reduce(into state: inout Int, _ event: Int, _: Transition) { state += event }
    var feedbacks: [Feedback<Int, Int>] { [] }
}
