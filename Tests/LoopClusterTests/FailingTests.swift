import LoopCluster
import LoopCore
import LoopWire
import Testing

/// A reducer that hears of last failures, with a worker and a client.
private struct FailingBench {
    var reducer: MinedReducer
    private(set) var worker = SessionID.none
    private var sender = SessionID.none
    private var senderEpoch: UInt64 = 1

    private static let policy = EffectPolicy(timeout: .seconds(2))

    init() throws {
        reducer = try MinedReducer(policy: Self.policy, hasFailing: true)
        worker = reducer.bench.join(alice)
        sender = reducer.bench.join(client, capacity: 0)
    }

    /// The process dies in what it does last, before that is durable.
    func dying(in last: (inout FailingBench) -> Void) throws -> FailingBench {
        var died = self
        died.reducer.memory.forget()
        last(&died)
        var next = self
        next.reducer = try MinedReducer(
            policy: Self.policy, replaying: reducer.bench.records, image: try #require(died.reducer.memory.image),
            hasFailing: true)
        // The grace ends, and what no worker has claimed is granted again.
        next.worker = next.reducer.bench.join(alice)
        _ = next.reducer.bench.wait(for: 4000, next.worker, alice)
        return next
    }

    mutating func grant(_ strength: Int) throws -> Grant {
        try #require(try reducer.bench.send(sender, from: 1, .light("a", strength)).grants.first)
    }

    mutating func fail(_ attempt: ClaimedAttempt, from number: UInt64, _ failure: Failure) -> [Outbound] {
        let entry = Entry(kind: .failed, effect: attempt.effect, attempt: attempt.attempt, payload: failure.bytes[...])
        return reducer.bench.push(reducer.bench.batch(worker, from: number, [entry]))
    }

    var events: [EventRecord] {
        reducer.bench.records.compactMap { if case .event(let event) = $0 { event } else { nil } }
    }

    /// How often people were told that an event cannot be decoded.
    var explained: Int { reducer.bench.news.count { if case .undecodable = $0 { true } else { false } } }

    var parked: [String] { reducer.bench.machine.status().parked.map(\.message) }
}

/// The reducer makes the event of a last failure, whichever worker has run the effect, in whatever language.
@Suite struct `A last failure that a feedback hears of` {
    @Test(arguments: [Failure(message: "dark"), Failure(message: "dark", isFinal: true)])
    func `becomes one record with the end of the effect, whatever the worker thinks of it`(failure: Failure) throws {
        var bench = try FailingBench()
        let grant = try bench.grant(1)
        let out = bench.fail(ClaimedAttempt(effect: grant.effect, attempt: grant.attempt), from: 1, failure)
        let event = try #require(bench.events.last)
        #expect(event.effect == grant.effect && event.attempt == grant.attempt && event.isLast)
        #expect(event.session == bench.worker && event.number == 1)
        #expect(bench.reducer.notes == 1)
        #expect(bench.reducer.bench.machine.status().feedbacks.map(\.completed) == [1])
        // The entry is settled, and its attempt needs no cancellation.
        #expect(!out.messages(to: alice).contains { if case .commands = $0 { true } else { false } })
        #expect(bench.reducer.bench.turn(after: 60_000).grants == [])
        #expect(bench.parked == [])
    }

    @Test func `becomes an event of no session where the time was up, and the worker is told to stop`() throws {
        var bench = try FailingBench()
        let grant = try bench.grant(1)
        let out = bench.reducer.bench.turn(after: 2000)
        let event = try #require(bench.events.last)
        #expect(event.isOfTimeout && !event.isOfTimer)
        #expect(event.effect == grant.effect && event.attempt == grant.attempt)
        #expect(out.messages(to: alice).contains(.commands(number: 2, [.cancel(grant.effect, grant.attempt)])))
        #expect(bench.reducer.notes == 1)
        #expect(bench.reducer.bench.machine.counters[.effectTimedOut] == 1)
        // What the body says afterwards comes too late.
        _ = bench.fail(ClaimedAttempt(effect: grant.effect, attempt: grant.attempt), from: 1, Failure(message: "late"))
        #expect(bench.reducer.notes == 1)
    }

    @Test func `parks the effect where the feedback has no event for it`() throws {
        var bench = try FailingBench()
        let grant = try bench.grant(15)
        _ = bench.fail(ClaimedAttempt(effect: grant.effect, attempt: grant.attempt), from: 1, Failure(message: "dark"))
        #expect(bench.parked == ["dark"])
        var late = try FailingBench()
        _ = try late.grant(15)
        late.reducer.bench.turn(after: 2000)
        #expect(late.parked == ["no end within 2.0 seconds"])
    }

    /// 13: making the event ends the process. 14: reducing it does.
    @Test(arguments: [13, 14], [true, false])
    func `parks the effect where its event ends the process twice`(strength: Int, isTimeout: Bool) throws {
        var bench = try FailingBench()
        _ = try bench.grant(strength)
        for _ in 1...2 {
            bench = try bench.dying { $0.failTheOnlyOne(isTimeout) }
        }
        #expect(bench.reducer.memory.note.suspects.map(\.crashes) == [2])
        bench.failTheOnlyOne(isTimeout)
        #expect(bench.reducer.memory.image == nil)
        let step = strength == 13 ? "a feedback's failing" : "reduce"
        let reason = isTimeout ? "no end within 2.0 seconds" : "dark"
        #expect(bench.parked == ["\(reason); its failing event ended the reducer 2 times, in \(step)"])
        #expect(bench.reducer.memory.note.suspects == [])
        #expect(bench.reducer.notes == 0)
    }

    @Test func `parks the effect after two crashes, although each failure has another message`() throws {
        var bench = try FailingBench()
        _ = try bench.grant(14)
        for count in 1...2 {
            bench = try bench.dying { $0.failTheOnlyOne(false, "dark at \(count)") }
        }
        #expect(bench.reducer.memory.note.suspects.map(\.crashes) == [2])
        bench.failTheOnlyOne(false, "dark at 3")
        #expect(bench.parked == ["dark at 3; its failing event ended the reducer 2 times, in reduce"])
        #expect(bench.reducer.memory.note.suspects == [])
    }

    @Test func `of an event that cannot be decoded is explained once, although it waits for a turn of its own`() throws
    {
        var bench = try FailingBench()
        let grant = try bench.grant(14)
        bench = try bench.dying { $0.failTheOnlyOne(false) }
        let attempt = Attempt(epoch: bench.reducer.bench.machine.epoch.number, count: 1)
        let note = try bench.reducer.bench.event(.note, of: (grant.effect, attempt))
        let bad = Entry(kind: .event, effect: grant.effect, attempt: attempt, payload: [0xff])
        let watermark = bench.reducer.bench.machine.journaled.sessions[bench.worker]?.watermark ?? 0
        _ = bench.reducer.bench.push(bench.reducer.bench.batch(bench.worker, from: watermark + 1, [note, bad]))
        #expect(bench.reducer.notes == 1 && bench.explained == 0)
        bench.reducer.bench.turn(after: 2000)
        #expect(bench.explained == 1)
        #expect(bench.events.last?.isLast == true)
    }

    @Test func `is tried once more for a timeout, although every turn has events`() throws {
        var bench = try FailingBench()
        _ = try bench.grant(14)
        bench = try bench.dying { $0.failTheOnlyOne(true) }
        for _ in 1...20 { try bench.note(after: 200) }
        #expect(bench.reducer.memory.note.suspects == [])
        #expect(bench.events.count { $0.isOfTimeout } == 1)
    }

    @Test func `is tried once more alone after one crash, and is forgiven when it survives`() throws {
        var bench = try FailingBench()
        _ = try bench.grant(14)
        bench = try bench.dying { $0.failTheOnlyOne(false) }
        #expect(bench.reducer.memory.note.suspects.map(\.crashes) == [1])
        bench.failTheOnlyOne(false)
        #expect(bench.reducer.notes == 1)
        #expect(bench.reducer.memory.note.suspects == [])
    }

    @Test func `waits for a turn of its own after one crash, if the time is up in a turn with others`() throws {
        var bench = try FailingBench()
        _ = try bench.grant(14)
        bench = try bench.dying { $0.failTheOnlyOne(true) }
        let other = bench.reducer.bench.join(client, capacity: 0)
        let watermark = bench.reducer.bench.machine.journaled.sessions[other]?.watermark ?? 0
        let event = try bench.reducer.bench.event(.light("b", 2))
        let batch = bench.reducer.bench.batch(other, from: watermark + 1, [event])
        bench.reducer.bench.turn(after: 2000) { $0.receive(batch, by: .unknown) }
        #expect(bench.reducer.notes == 0)
        bench.reducer.bench.turn()
        #expect(bench.reducer.notes == 1)
        #expect(bench.reducer.memory.note.suspects == [])
    }
}

extension FailingBench {
    /// The one attempt that is granted fails, or takes too long.
    fileprivate mutating func failTheOnlyOne(_ isTimeout: Bool, _ message: String = "dark") {
        if isTimeout {
            reducer.bench.turn(after: 2000)
            return
        }
        guard let effect = reducer.bench.machine.journaled.effects.keys.first else { return }
        let attempt = Attempt(epoch: reducer.bench.machine.epoch.number, count: 1)
        let watermark = reducer.bench.machine.journaled.sessions[worker]?.watermark ?? 0
        _ = fail(ClaimedAttempt(effect: effect, attempt: attempt), from: watermark + 1, Failure(message: message))
    }

    /// A client sends an event in the turn that comes after some time.
    fileprivate mutating func note(after milliseconds: Int64) throws {
        if reducer.bench.machine.epoch.number != senderEpoch { sender = reducer.bench.join(client, capacity: 0) }
        senderEpoch = reducer.bench.machine.epoch.number
        let watermark = reducer.bench.machine.journaled.sessions[sender]?.watermark ?? 0
        let batch = reducer.bench.batch(sender, from: watermark + 1, [try reducer.bench.event(.note)])
        reducer.bench.turn(after: milliseconds) { $0.receive(batch, by: .unknown) }
    }
}
