import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

@Suite struct `The trace of an event` {
    private let context = TraceContext(traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")

    /// The client sends an event in the trace, and the worker is granted the effect that it asks for.
    private func lit(_ policy: EffectPolicy = EffectPolicy()) throws -> (ReducerBench, worker: SessionID, Grant) {
        var bench = try ReducerBench(policy: policy)
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        var entry = try bench.event(.light("a", 1))
        entry.trace = context
        let out = bench.push(bench.batch(sender, from: 1, [entry, try bench.event(.light("b", 1))]))
        #expect(out.grants.map { $0.trace == nil } == [false, true])
        return (bench, worker, try #require(out.grants.first))
    }

    private func events(_ records: [Record]) -> [EventRecord] {
        records.compactMap { if case .event(let event) = $0 { event } else { nil } }
    }

    @Test func `is in its record, and goes on through the effect that it starts`() throws {
        let (start, worker, grant) = try lit()
        var bench = start
        let context = try #require(context)
        #expect(events(bench.records).map(\.trace) == [context, nil])
        let place = try #require(grant.trace)
        #expect(place.traceID == context.traceID && place.span != context.span)
        #expect(bench.traced.map(\.trace) == [place])
        #expect(bench.traced.map(\.parent) == [context.span])
        #expect(bench.traced.map(\.record.seq) == [Seq(1)])
        var entry = try bench.event(.note, of: (grant.effect, grant.attempt))
        entry.trace = place
        _ = bench.push(bench.batch(worker, from: 1, [entry]))
        #expect(bench.traced.map(\.parent) == [context.span, place.span])
        #expect(Set(bench.traced.map(\.trace.span)).count == 2)
    }

    @Test func `goes on at another place in each loop`() throws {
        let context = try #require(context)
        let places = [History(7), History(8)].map { context.applied(at: Seq(1), of: $0).span }
        #expect(Set(places + [context.applied(at: Seq(2), of: History(7)).span]).count == 3)
    }

    @Test func `stays with every attempt of the effect, and after a restart`() throws {
        let (start, worker, grant) = try lit(
            EffectPolicy(retry: Retry(attemptsMax: 3, firstDelay: .zero, delayMax: .zero)))
        var bench = start
        let again = bench.push(bench.batch(worker, from: 1, [bench.failure(of: grant)])).grants
        #expect(again.map(\.effect) == [grant.effect] && again.map(\.trace) == [grant.trace])
        var restarted = try ReducerBench(replaying: bench.records, at: bench.time + 60_000)
        let heir = restarted.join(bob)
        let grants = restarted.wait(for: 20_000, heir, bob).grants
        #expect(Set(grants.map(\.trace)) == [grant.trace, nil])
        #expect(restarted.traced == [])
    }

    @Test func `is in snapshots, and not in hashes`() throws {
        let (bench, _, grant) = try lit()
        let state = bench.machine.journaled
        let document = try state.snapshot()
        let restored = try JournaledState(restoring: document, definition: Lamps(), coder: CBORCoder())
        let place = try #require(grant.trace)
        #expect(restored.traces == [grant.effect: place])
        #expect(try restored.differences(from: state) == [] && restored.snapshot() == document)
        var without = JournaledState(definition: Lamps(), coder: CBORCoder(), history: ReducerBench.history)
        for record in bench.records {
            guard case .event(var event) = record else {
                try without.apply(record)
                continue
            }
            event.trace = nil
            try without.apply(.event(event))
        }
        #expect(without.digest() == state.digest())
        #expect(try without.differences(from: state) == ["traces of effects"])
    }

    @Test func `ends with what it started`() throws {
        var (bench, _, _) = try lit()
        _ = try bench.send(try #require(bench.machine.journaled.sessionByPeer[client]), from: 3, .darken("a"))
        #expect(bench.machine.journaled.traces.isEmpty)
        #expect(bench.traced.count == 1)
    }

    @Test func `goes on through a timer, live and at replay`() throws {
        var bench = try DeadlineBench()
        bench.trace = context
        try bench.send(.set("a", at: 11_000))
        let set = try #require(bench.traced.first)
        let restarted = try DeadlineBench(replaying: bench.records, at: 10_500)
        for var bench in [bench, restarted] {
            try bench.turn(after: 5000)
            #expect(bench.expired.count == 1)
            let fired = try #require(bench.traced.last)
            #expect(fired.parent == set.trace.span && fired.trace.traceID == context?.traceID)
        }
    }

    @Test func `goes on through the event of a last failure`() throws {
        let policy = EffectPolicy(retry: .never)
        var bench = try ReducerBench(policy: policy, hasFailing: true)
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        var entry = try bench.event(.light("a", 1))
        entry.trace = context
        let grant = try #require(bench.push(bench.batch(sender, from: 1, [entry])).grants.first)
        _ = bench.push(bench.batch(worker, from: 1, [bench.failure(of: grant)]))
        #expect(bench.state.notes == 1)
        #expect(events(bench.records).map(\.trace) == [context, grant.trace])
    }
}
