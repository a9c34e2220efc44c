import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `A restarted reducer` {
    private func running() throws -> (bench: ReducerBench, grant: Grant) {
        var bench = try ReducerBench()
        bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(try bench.send(sender, from: 1, .light("a", 1)).grants.first)
        return (bench, grant)
    }

    @Test func `holds what its journal gives, and begins a new epoch`() throws {
        let (bench, _) = try running()
        let again = try ReducerBench(replaying: bench.records, at: 20_000)
        #expect(again.state == bench.state)
        #expect(again.machine.seq == bench.machine.seq)
        #expect(again.machine.epoch.number == 2)
    }

    @Test func `lets a worker go on with what it claims`() throws {
        let (bench, grant) = try running()
        var again = try ReducerBench(replaying: bench.records, at: 20_000)
        let session = again.join(alice, claiming: [ClaimedAttempt(effect: grant.effect, attempt: grant.attempt)])
        #expect(session == SessionID(1))
        _ = again.push(
            again.batch(session, from: 1, [try again.event(.note, of: (grant.effect, grant.attempt))]))
        #expect(again.state.notes == 1)
    }

    @Test func `gives unclaimed effects to others, after the silence limit`() throws {
        let (bench, grant) = try running()
        var again = try ReducerBench(replaying: bench.records, at: 20_000)
        let session = again.join(bob)
        for _ in 0..<5 { #expect(again.say(again.heartbeat(session), from: bob, after: 500).grants == []) }
        let late = again.say(again.heartbeat(session), from: bob, after: 500).grants
        #expect(late.map(\.effect) == [grant.effect])
        #expect(late.map(\.attempt) == [Attempt(epoch: 2, count: 1)])
        #expect(late.map(\.isResumed) == [true])
    }

    @Test func `retires the sessions of those who never come back`() throws {
        let (bench, _) = try running()
        var again = try ReducerBench(replaying: bench.records, at: 20_000)
        // Its effects go to no worker any more. The turns are short, so that the reducer does not seem to stand still.
        for _ in 0..<(23 * 3600) { again.turn(after: 1000) }
        #expect(!again.records.contains(.sessionRetired(SessionID(2))))
        for _ in 0..<(2 * 3600) { again.turn(after: 1000) }
        #expect(again.records.contains(.sessionRetired(SessionID(2))))
    }
}

@Suite struct `A loop that ends` {
    @Test func `acknowledges the event that ended it before it says so, and refuses what comes after`() throws {
        var bench = try ReducerBench()
        let sender = bench.join(client, capacity: 0)
        let out = try bench.send(sender, from: 1, .finish)
        #expect(out.messages(to: client) == [acknowledged(0, 1), .ended(at: Seq(1), exitCode: 1, text: "done")])
        #expect(bench.machine.end == Outcome(text: "done", exitCode: 1))
        let late = try bench.send(sender, from: 2, .note)
        #expect(late.messages(to: client) == [acknowledged(1, 2, refused(2, .ended))])
    }
}

@Suite struct `Observers` {
    @Test func `are shown the state of each turn that changed it, while there are any`() throws {
        var bench = try ReducerBench()
        let sender = bench.join(client, capacity: 0)
        let silent = try bench.send(sender, from: 1, .note)
        #expect(!silent.contains { if case .publish(.updates, _) = $0 { true } else { false } })
        bench.subscriptions.streams = [UpdateStream(.full)]
        bench.time += 1000
        let shown = try bench.send(sender, from: 2, .note)
        let updates = shown.compactMap { outbound -> ToPeer? in
            guard case .publish(.updates, let frame) = outbound else { return nil }
            return frame.message
        }
        #expect(updates == [.update(Seq(2), state: try bench.coder.encode(bench.state))])
    }

    @Test func `fetch the state in parts`() throws {
        var bench = try ReducerBench()
        let whole = try bench.coder.encode(bench.state)
        let out = bench.say(.stateRequest(transfer: 0, part: 0), from: bob)
        #expect(
            out.messages(to: bob) == [
                .statePart(
                    StatePart(transfer: 1, seq: .initial, part: 0, end: .state, bytes: whole))
            ])
    }
}
