import LoopCluster
import LoopCore
import LoopWire
import Testing

/// Bugs that simulated clusters found, each as the shortest conversation that shows it.
@Suite struct `Found by simulation` {
    private let stranger = PeerID(high: 0, low: 77)

    /// A client that asked for the seqs of its events, and has not heard of them.
    private func bench() throws -> (bench: ReducerBench, session: SessionID) {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        _ = bench.push(bench.batch(session, from: 1, [try bench.event(.note, wantsSeq: true)]))
        return (bench, session)
    }

    @Test func `a peer of another history that asks for the outcomes of its session makes nobody's forgotten`() throws {
        var (bench, session) = try bench()
        // Its own session had the same number, in a history that is gone.
        _ = bench.say(.outcomesRequest(session, after: 40), from: stranger)
        let answer = bench.say(.outcomesRequest(session, after: 0), from: client)
        #expect(
            answer.messages(to: client) == [
                .outcomes(
                    Acknowledgement(
                        base: 0, watermark: 1, notable: [NotableOutcome(number: 1, outcome: .applied(Seq(1)))]))
            ])
    }

    @Test func `a goodbye of another history's session ends nobody's`() throws {
        var (bench, session) = try bench()
        _ = bench.say(.goodbye(session), from: stranger)
        #expect(bench.machine.core.sessions[session] != nil)
        _ = bench.say(.goodbye(session), from: client)
        #expect(bench.machine.core.sessions[session] == nil)
    }

    @Test func `a heartbeat of another epoch does not take the answers of a session to where it came from`() throws {
        var (bench, session) = try bench()
        let stale = Heartbeat(
            session: session, epoch: Epoch(number: 1, nonce: 99), echo: 0, applied: 0, settled: 0, capacity: 0)
        _ = bench.say(.heartbeat(stale), from: stranger)
        let answer = bench.say(.outcomesRequest(session, after: 0), from: client)
        #expect(answer.messages(to: client).count == 1)
        #expect(answer.messages(to: stranger) == [])
    }

    /// The clock may be set back between the failure and the restart; what the journal has seen is a lower bound.
    @Test func `a retry waits no longer than it was to when the clock was set back`() throws {
        let policy = EffectPolicy(
            retry: Retry(attemptsMax: 9, firstDelay: .milliseconds(100), delayMax: .milliseconds(100), jitter: 0))
        var first = try ReducerBench(policy: policy, at: 7_200_000)
        let worker = first.join(alice)
        let sender = first.join(client, capacity: 0)
        let started = try first.send(sender, from: 1, .light("a", 1))
        let grant = try #require(started.grants.first)
        let failure = Failure(message: "no luck")
        _ = first.push(
            first.batch(
                worker, from: 1,
                [Entry(kind: .failed, effect: grant.effect, attempt: grant.attempt, payload: failure.bytes[...])]))
        // An hour earlier.
        var second = try ReducerBench(policy: policy, replaying: first.records, at: 3_600_000)
        let other = second.join(bob)
        var granted: [Outbound] = []
        // The grace for claims, and then the delay.
        for _ in 0..<10 { granted += second.say(second.heartbeat(other), from: bob, after: 400) }
        #expect(granted.grants.map(\.effect) == [grant.effect])
    }
}
