import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `A reducer consumes entries` {
    @Test func `an event is journaled, applied and acknowledged`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        let entry = try bench.event(.note, wantsSeq: true)
        let out = bench.push(bench.batch(session, from: 1, [entry]))
        #expect(
            bench.records.last
                == .event(
                    EventRecord(
                        seq: Seq(1), time: WallTime(milliseconds: 10_000), session: session, number: 1, effect: nil,
                        attempt: .none, wantsSeq: true, bytes: entry.payload)))
        #expect(
            out.messages(to: client) == [acknowledged(0, 1, NotableOutcome(number: 1, outcome: .applied(Seq(1))))])
        #expect(bench.state.notes == 1)
    }

    @Test func `a duplicate is acknowledged again and not applied`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        _ = try bench.send(session, from: 1, .note, .note)
        let count = bench.records.count
        let out = try bench.send(session, from: 1, .note, .note)
        #expect(out.messages(to: client) == [acknowledged(2, 2)])
        #expect(bench.records.count == count)
        #expect(bench.state.notes == 2)
        #expect(bench.machine.counters[.duplicateEntry] == 2)
    }

    @Test func `a gap ends the batch, and its sender is asked to send again`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        let out = try bench.send(session, from: 3, .note)
        let ticks = out.compactMap { outbound -> Tick? in
            guard case .inbox(client, let frame) = outbound, case .tick(let tick) = frame.message, tick.resend else {
                return nil
            }
            return tick
        }
        #expect(ticks.map(\.received) == [0])
        #expect(bench.machine.seq == .initial)
    }

    @Test func `bytes that are no event are refused, by record`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        let out = bench.push(bench.batch(session, from: 1, [Entry(kind: .event, payload: [0xff])]))
        #expect(out.messages(to: client) == [details(of: 1), acknowledged(0, 1, refused(1, .undecodable))])
        #expect(
            bench.records.last
                == .refused(
                    RefusalRecord(
                        session: session, number: 1, reason: .undecodable, effect: nil, attempt: .none,
                        detail: whatIsWrong)))
    }

    @Test func `an event of an effect that the event before it cancelled is refused`() throws {
        var bench = try ReducerBench()
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(try bench.send(sender, from: 1, .light("a", 1)).grants.first)
        let holder = (grant.effect, grant.attempt)
        let out = bench.push(
            bench.batch(
                worker, from: 1, [try bench.event(.darken("a"), of: holder), try bench.event(.note, of: holder)]))
        #expect(
            out.messages(to: alice) == [
                .commands(number: 2, [.cancel(grant.effect, grant.attempt)]), acknowledged(0, 2, refused(2, .stale)),
            ])
        #expect(bench.state.notes == 0)
    }

    @Test func `whose effects end, and whose places others take, among many that have none`() throws {
        var bench = try ReducerBench()
        let worker = bench.join(alice, capacity: 64)
        let sender = bench.join(client, capacity: 0)
        let names = (0..<40).map { "\($0)" }
        let grants = try bench.push(
            bench.batch(sender, from: 1, names.map { try bench.event(.light($0, 1)) })
        ).grants.sorted { $0.effect < $1.effect }
        try #require(grants.count == 40)
        var (entries, isApplied): ([Entry], [Bool]) = ([], [])
        for (name, grant) in zip(names, grants) {
            let holder = (grant.effect, grant.attempt)
            // Its effect ends, and the place of it is that of another; or nothing is there any more.
            entries.append(try bench.event(.darken(name), of: holder))
            entries.append(try bench.event(name.hasSuffix("3") ? .light(name, 2) : .note))
            entries.append(try bench.event(.note, of: holder))
            for _ in 0..<(name.hasSuffix("5") ? 20 : 1) { entries.append(try bench.event(.note)) }
            isApplied += [true, true, false] + Array(repeating: true, count: entries.count - isApplied.count - 3)
        }
        let before = bench.records.count
        _ = bench.push(bench.batch(worker, from: 1, entries))
        let applied = bench.records[before...].compactMap { record -> Bool? in
            switch record {
            case .event: true
            case .refused(let record): record.reason == .stale ? false : nil
            default: nil
            }
        }
        #expect(applied == isApplied)
        #expect(bench.state.burning.keys.sorted() == ["13", "23", "3", "33"])
        #expect(bench.machine.status().peers.map(\.completed) == [40, 0])
        #expect(bench.machine.status().peers.map(\.leases) == [4, 0])
    }

    @Test func `a batch before the claim is dropped`() throws {
        var bench = try ReducerBench()
        _ = bench.say(.join(ReducerBench.joinRequest(client, capacity: 0)), from: client)
        #expect(try bench.send(SessionID(1), from: 1, .note) == [])
        #expect(bench.machine.counters[.beforeClaim] == 1)
    }

    @Test func `a batch of another history is dropped`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        var batch = bench.batch(session, from: 1, [try bench.event(.note)])
        batch.history = History(1)
        #expect(bench.push(batch) == [])
        #expect(bench.machine.counters[.foreignHistory] == 1)
    }
}
