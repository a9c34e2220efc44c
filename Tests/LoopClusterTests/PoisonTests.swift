import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

@Suite struct `An event that ends the process` {
    private func mined() throws -> (MinedReducer, Batch) {
        var reducer = try MinedReducer()
        let session = reducer.bench.join(client, capacity: 0)
        let bench = reducer.bench
        return (
            reducer,
            bench.batch(session, from: 1, [try bench.event(.note), try bench.event(.mine(1)), try bench.event(.note)])
        )
    }

    @Test func `once is reduced alone when it comes again, and is forgiven when it survives`() throws {
        let (first, batch) = try mined()
        var second = try first.dying(of: batch)
        let suspect = Suspect(
            session: batch.session, number: 2, effect: nil, hash: StableHash.quick(batch.entries[1].payload),
            phase: .reducing, crashes: 1)
        #expect(second.finding == .suspect(suspect))
        #expect(second.memory.note.suspects == [suspect])
        second.bench.join(client, capacity: 0)
        let before = second.bench.records.count
        // What comes before it is committed first, and what comes after it in another turn.
        #expect(second.bench.push(batch).messages(to: client) == [acknowledged(0, 1)])
        #expect(second.records(after: before).events == [1])
        #expect(second.bench.machine.hasDeferred)
        #expect(second.bench.turn().messages(to: client) == [acknowledged(1, 2)])
        #expect(second.records(after: before).events == [1, 2])
        #expect(second.memory.note.suspects == [])
        #expect(second.bench.turn().messages(to: client) == [acknowledged(2, 3)])
        #expect(!second.bench.machine.hasDeferred)
        #expect(second.notes == 3)
        #expect(second.bench.machine.counters[.reducedAlone] == 1)
    }

    /// As `loopctl send` sends it, each time as another peer.
    @Test func `is set aside at the third time, whichever peer sends it, and refused from then on`() throws {
        func send(_ reducer: inout MinedReducer, as peer: PeerID) throws -> Batch {
            let session = reducer.bench.join(peer, capacity: 0)
            return reducer.bench.batch(session, from: 1, [try reducer.bench.event(.mine(1))])
        }
        var reducer = try MinedReducer()
        for number in 1...2 as ClosedRange<UInt64> {
            let batch = try send(&reducer, as: PeerID(high: 3, low: number))
            reducer = try reducer.dying(of: batch)
            #expect(reducer.memory.note.suspects.map(\.crashes) == [UInt32(number)])
        }
        for number in 3...4 as ClosedRange<UInt64> {
            let batch = try send(&reducer, as: PeerID(high: 3, low: number))
            let out = reducer.bench.push(batch)
            #expect(out.messages(to: PeerID(high: 3, low: number)) == [acknowledged(0, 1, refused(1, .quarantined))])
        }
        #expect(reducer.memory.image == nil)
        #expect(reducer.bench.records.quarantined.map(\.session) == [SessionID(3)])
        // Other events are taken, and the same one too once it is dropped.
        _ = try reducer.bench.send(reducer.bench.join(client, capacity: 0), from: 1, .mine(2))
        #expect(reducer.notes == 1)
        #expect(reducer.bench.ask(.dropQuarantined(id: 1, who: "eve")).refusal == nil)
        let batch = try send(&reducer, as: PeerID(high: 3, low: 5))
        _ = reducer.bench.push(batch)
        #expect(reducer.notes == 2)
    }

    @Test func `that others have sent without harm in between is forgiven`() throws {
        let (first, batch) = try mined()
        var second = try first.dying(of: batch)
        let session = second.bench.join(bob, capacity: 0)
        _ = try second.bench.send(session, from: 1, .mine(1))
        #expect(second.notes == 1)
        #expect(second.memory.note.suspects == [])
    }

    /// Where the journal has lost its end, the number of a session may be given to another peer.
    @Test func `is not taken for another event under its number`() throws {
        let (first, batch) = try mined()
        var second = try first.dying(of: batch)
        second.bench.join(client, capacity: 0)
        let bench = second.bench
        let other = bench.batch(batch.session, from: 1, [try bench.event(.note), try bench.event(.note)])
        #expect(second.bench.push(other).messages(to: client) == [acknowledged(0, 2)])
        #expect(!second.bench.machine.hasDeferred)
        #expect(second.bench.machine.counters[.reducedAlone] == nil)
    }

    @Test func `is not forgiven before its turn is durable`() throws {
        let (first, batch) = try mined()
        var second = try first.dying(of: batch)
        second.bench.join(client, capacity: 0)
        _ = second.bench.push(batch)
        let ready = second.bench.machine.turn(at: ReducerBench.moment(second.bench.time))
        #expect(second.memory.note.suspects.count == 1)
        let position = ready.position
        _ = second.bench.machine.release(ready, JournalReceipt(through: position))
        #expect(second.memory.note.suspects == [])
    }

    @Test func `twice is set aside with its bytes, and the loop goes on without it`() throws {
        let (first, batch) = try mined()
        var second = try first.dying(of: batch)
        second.bench.join(client, capacity: 0)
        _ = second.bench.push(batch)
        let (records, memory) = (second.bench.records, second.memory)
        memory.forget()
        second.bench.turn()
        var third = try MinedReducer(replaying: records, image: try #require(memory.image))
        #expect(third.memory.note.suspects.map(\.crashes) == [2])
        third.bench.join(client, capacity: 0)
        let out = third.bench.push(third.bench.batch(batch.session, from: 2, Array(batch.entries[1...])))
        #expect(out.messages(to: client) == [acknowledged(1, 3, refused(2, .quarantined))])
        #expect(third.notes == 2)
        #expect(
            third.bench.records.quarantined == [
                QuarantineRecord(
                    id: 1, time: WallTime(milliseconds: third.bench.time), session: batch.session, number: 2,
                    effect: nil, attempt: .none, phase: .reducing, crashes: 2, bytes: batch.entries[1].payload)
            ])
        #expect(third.memory.note.suspects == [])
        #expect(third.bench.machine.counters[.quarantined] == 1)
        let status = third.bench.machine.status()
        #expect(status.quarantined == 1)
        #expect(
            status.warnings == [
                "1 EVENT IS QUARANTINED: the newest, {\"mine\":{\"_0\":1}}, ended the reducer 2 times in reduce; see:"
                    + " loopctl quarantine list"
            ])
        let aside = try #require(third.bench.records.quarantined.first)
        #expect(third.bench.news.contains(.quarantined(aside, feedback: nil)))
    }

    @Test func `in a query is blamed too`() throws {
        var first = try MinedReducer()
        let session = first.bench.join(client, capacity: 0)
        let second = try first.dying(
            of: first.bench.batch(session, from: 1, [try first.bench.event(.light("mine", 1))]))
        #expect(second.memory.note.suspects.map(\.phase) == [.query])
    }

    @Test func `of an effect is known by its bytes when its worker comes back under another session`() throws {
        var first = try MinedReducer()
        let worker = first.bench.join(alice)
        let sender = first.bench.join(client, capacity: 0)
        let grant = try #require(try first.bench.send(sender, from: 1, .light("a", 1)).grants.first)
        let mine = try first.bench.event(.mine(7), of: (grant.effect, grant.attempt))
        var second = try first.dying(of: first.bench.batch(worker, from: 1, [mine]))
        // The worker has died with the reducer; another one gets the effect, and sends the same and something else.
        let other = second.bench.join(bob)
        var grants: [Grant] = []
        for _ in 0..<7 { grants += second.bench.say(second.bench.heartbeat(other), from: bob, after: 500).grants }
        let again = try #require(grants.first)
        let entries = [
            try second.bench.event(.mine(8), of: (again.effect, again.attempt)),
            try second.bench.event(.mine(7), of: (again.effect, again.attempt)),
        ]
        second.memory.forget()
        _ = second.bench.push(second.bench.batch(other, from: 1, entries))
        #expect(second.notes == 1)
        let records = second.bench.records
        second.bench.turn()
        #expect(second.notes == 2)
        var third = try MinedReducer(replaying: records, image: try #require(second.memory.image))
        #expect(third.memory.note.suspects.map(\.crashes) == [2])
        let last = third.bench.join(
            bob, claiming: [ClaimedAttempt(effect: again.effect, attempt: again.attempt)])
        let out = third.bench.push(third.bench.batch(last, from: 2, [entries[1]]))
        #expect(out.messages(to: bob) == [acknowledged(1, 2, refused(2, .quarantined))])
        // The effect tries again with the same bytes: no crash is needed to know them. That is a failure of the effect.
        let count = third.bench.records.quarantined.count
        let repeated = third.bench.push(third.bench.batch(last, from: 3, [entries[1], entries[0]]))
        #expect(repeated.messages(to: bob).contains(acknowledged(2, 4, refused(4, .stale))))
        let why = "its event was refused: the event was set aside because it brought the reducer down"
        #expect(third.bench.machine.status().parked.map(\.message) == [why])
        #expect(third.bench.records.quarantined.count == count)
        #expect(third.bench.machine.counters[.refusedQuarantined] == 1)
    }

    @Test func `and is stale by now is refused, and no suspect any more`() throws {
        var first = try MinedReducer()
        let worker = first.bench.join(alice)
        let sender = first.bench.join(client, capacity: 0)
        let grant = try #require(try first.bench.send(sender, from: 1, .light("a", 1)).grants.first)
        let mine = try first.bench.event(.mine(7), of: (grant.effect, grant.attempt))
        var second = try first.dying(of: first.bench.batch(worker, from: 1, [mine]))
        second.bench.join(alice, claiming: [ClaimedAttempt(effect: grant.effect, attempt: grant.attempt)])
        second.bench.join(client, capacity: 0)
        _ = try second.bench.send(sender, from: 2, .darken("a"))
        let out = second.bench.push(second.bench.batch(worker, from: 1, [mine]))
        #expect(out.messages(to: alice).contains(acknowledged(0, 1, refused(1, .stale))))
        #expect(second.memory.note.suspects == [])
    }

    @Test func `is no suspect any more where its sender is gone, or its number is consumed`() throws {
        let (first, batch) = try mined()
        var last = first
        _ = last.bench.push(batch)
        let image = try #require(last.memory.image)
        var gone = try MinedReducer(replaying: first.bench.records + [.sessionRetired(batch.session)], image: image)
        #expect(gone.finding != .nothing)
        gone.bench.turn()
        #expect(gone.memory.note.suspects == [])
        // Killed when the records were durable, and before the note was cleared.
        var consumed = try MinedReducer(replaying: last.bench.records, image: image)
        consumed.bench.turn()
        #expect(consumed.memory.note.suspects == [])
        var neither = try MinedReducer(replaying: first.bench.records, image: image)
        neither.bench.turn()
        #expect(neither.memory.note.suspects.count == 1)
    }

    /// Found by simulation: seed 6737, which lost power after a new history.
    @Test func `is forgotten by a new history only when that is durable, and with its effect not even then`() throws {
        var first = try MinedReducer()
        let sender = first.bench.join(client, capacity: 0)
        _ = try first.bench.send(sender, from: 1, .light("a", 1))
        let worker = first.bench.requestJoin(alice)
        let claim = ToReducer.claim(worker, first.bench.machine.epoch, [])
        let grant = try #require(first.bench.say(claim, from: alice).grants.first)
        let ofEffect = first.bench.batch(
            worker, from: 1, [try first.bench.event(.mine(7), of: (grant.effect, grant.attempt))])
        let ofClient = first.bench.batch(sender, from: 2, [try first.bench.event(.mine(1))])
        var second = try first.dying(of: ofClient)
        second.bench.join(alice, claiming: [ClaimedAttempt(effect: grant.effect, attempt: grant.attempt)])
        var third = try second.dying(of: ofEffect)
        let note = third.memory.note
        #expect(note.suspects.count == 2)
        let now = ReducerBench.moment(third.bench.time)
        third.bench.machine.beginHistory(History(0x5678), at: now)
        let ready = third.bench.machine.turn(at: now)
        #expect(note.suspects.count == 2)
        let position = ready.position
        _ = third.bench.machine.release(ready, JournalReceipt(through: position))
        #expect(note.suspects.map(\.effect) == [grant.effect])
    }

    /// Found by simulation: seed 4286, with faults of copied journals.
    @Test func `makes no other entry a suspect whose session has its number in a journal that was put back`() throws {
        var first = try MinedReducer()
        let sender = first.bench.join(client, capacity: 0)
        // The effect is in the copy, and the session of its worker is not.
        _ = try first.bench.send(sender, from: 1, .light("a", 1))
        let copy = first.bench.records
        let worker = first.bench.requestJoin(alice)
        let claim = ToReducer.claim(worker, first.bench.machine.epoch, [])
        let grant = try #require(first.bench.say(claim, from: alice).grants.first)
        let mine = try first.bench.event(.mine(7), of: (grant.effect, grant.attempt))
        let batch = first.bench.batch(worker, from: 1, [mine])
        var second = try first.dying(of: batch)
        second.bench.join(alice, claiming: [ClaimedAttempt(effect: grant.effect, attempt: grant.attempt)])
        let twice = try second.dying(of: batch).memory.note.bytes
        var restored = try MinedReducer(replaying: copy, image: twice)
        #expect(restored.memory.note.suspects.map(\.crashes) == [2])
        #expect(restored.bench.join(bob, capacity: 0) == worker)
        let note = restored.bench.batch(worker, from: 1, [try restored.bench.event(.note)])
        #expect(restored.bench.push(note).messages(to: bob) == [acknowledged(0, 1)])
        #expect(restored.bench.records.quarantined == [])
    }

    @Test func `holds up other sessions for its turn only, and keeps their order`() throws {
        let (first, batch) = try mined()
        var second = try first.dying(of: batch)
        let session = second.bench.join(client, capacity: 0)
        let other = second.bench.join(bob, capacity: 0)
        let (a, b) = (try second.bench.event(.light("a", 1)), try second.bench.event(.darken("a")))
        let before = second.bench.records.count
        let bench = second.bench
        second.bench.turn { intake in
            intake.receive(bench.batch(other, from: 1, [a]), by: .unknown)
            intake.receive(batch, by: .unknown)
            intake.receive(bench.batch(other, from: 2, [b]), by: .unknown)
        }
        #expect(second.records(after: before).events == [1, 1])
        for _ in 0..<3 { second.bench.turn() }
        #expect(second.records(after: before).events == [1, 1, 2, 3, 2])
        #expect(second.bench.machine.journaled.sessions[session]?.watermark == 3)
        #expect(second.bench.machine.journaled.sessions[other]?.watermark == 2)
        #expect(second.bench.machine.counters[.gapInStream] == nil)
    }

    @Test func `cannot make what waits after it grow without end`() throws {
        let (first, batch) = try mined()
        var second = try first.dying(of: batch)
        second.bench.join(client, capacity: 0)
        let other = second.bench.join(bob, capacity: 0)
        let large = Entry(kind: .event, payload: Array(repeating: 0, count: 256 << 10)[...])
        let bench = second.bench
        second.bench.turn { intake in
            intake.receive(batch, by: .unknown)
            for number in 1...80 { intake.receive(bench.batch(other, from: UInt64(number), [large]), by: .unknown) }
        }
        #expect((second.bench.machine.counters[.deferredDropped] ?? 0) > 10)
    }
}
