import CBOR
import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `A reducer answers` {
    private static func answer(_ number: UInt64, _ value: some Encodable) throws -> NumberedAnswer {
        NumberedAnswer(number: number, answer: .value(try CBORCoder().encode(value)))
    }

    private static func applied(_ number: UInt64, at seq: UInt64) -> NotableOutcome {
        NotableOutcome(number: number, outcome: .applied(Seq(seq)))
    }

    private static func acknowledged(
        _ base: UInt64, _ watermark: UInt64, _ notable: [NotableOutcome], _ answers: [NumberedAnswer]
    ) -> Acknowledgement {
        Acknowledgement(base: base, watermark: watermark, notable: notable, answers: answers)
    }

    private static func outcomes(_ session: SessionID, after: UInt64 = 0) -> ToReducer {
        .outcomesRequest(session, after: after)
    }

    /// A client that has asked for how many notes there are.
    private func asked(configuration: ReducerConfiguration = ReducerConfiguration()) throws -> (
        bench: ReducerBench, session: SessionID, out: [Outbound]
    ) {
        var bench = try ReducerBench(configuration: configuration)
        let session = bench.join(client, capacity: 0)
        let out = bench.push(bench.batch(session, from: 1, [try bench.event(.note, wantsAnswer: true)]))
        return (bench, session, out)
    }

    @Test func `in the turn that applies the event, by the state right after it`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        let out = bench.push(
            bench.batch(
                session, from: 1,
                [
                    try bench.event(.note, wantsAnswer: true), try bench.event(.note),
                    try bench.event(.light("a", 2), wantsAnswer: true), try bench.event(.darken("a")),
                ]))
        #expect(
            out.messages(to: client) == [
                .acknowledgement(
                    Self.acknowledged(
                        0, 4, [Self.applied(1, at: 1), Self.applied(3, at: 3)],
                        [try Self.answer(1, 1), try Self.answer(3, ["a": 2])]))
            ])
        #expect(
            bench.records.compactMap { if case .event(let event) = $0 { event.wantsAnswer } else { nil } } == [
                true, false, true, false,
            ])
    }

    @Test func `an event that is sent again with the same answer, and applies it once`() throws {
        var (bench, session, first) = try asked()
        let again = bench.push(bench.batch(session, from: 1, [try bench.event(.note, wantsAnswer: true)]))
        #expect(bench.state.notes == 1)
        #expect(again.messages(to: client) == [LoopClusterTests.acknowledged(1, 1)])
        _ = try bench.send(session, from: 2, .note)
        let outcomes = bench.say(Self.outcomes(session), from: client).messages(to: client)
        #expect(
            outcomes == [
                .outcomes(Self.acknowledged(0, 2, [Self.applied(1, at: 1)], [try Self.answer(1, 1)]))
            ])
        #expect(
            first.messages(to: client) == [
                .acknowledgement(Self.acknowledged(0, 1, [Self.applied(1, at: 1)], [try Self.answer(1, 1)]))
            ])
    }

    @Test func `the same after a replay, and from a snapshot`() throws {
        var (bench, session, _) = try asked()
        _ = try bench.send(session, from: 2, .note)
        let expected = bench.machine.journaled.sessions[session]?.answers.items
        #expect(expected == [try Self.answer(1, 1)])

        let replayed = try ReducerBench(replaying: bench.records)
        #expect(replayed.machine.journaled.sessions[session]?.answers.items == expected)

        let restored = try JournaledState(
            restoring: try bench.machine.journaled.snapshot(), definition: Lamps(), coder: CBORCoder())
        #expect(restored.sessions[session]?.answers.items == expected)
        #expect(restored.answersBytes == bench.machine.journaled.answersBytes)
        #expect(try restored.snapshot() == bench.machine.journaled.snapshot())
    }

    @Test func `until its sender says that it knows the answer`() throws {
        var (bench, session, _) = try asked()
        var batch = bench.batch(session, from: 2, [try bench.event(.note, wantsAnswer: true)])
        batch.settled = 1
        _ = bench.push(batch)
        #expect(bench.machine.journaled.sessions[session]?.answers.items == [try Self.answer(2, 2)])
        var beat = Heartbeat(
            session: session, epoch: bench.machine.epoch, echo: 0, applied: 0, settled: 2, capacity: 0)
        _ = bench.say(.heartbeat(beat), from: client)
        #expect(bench.machine.journaled.sessions[session]?.answers.isEmpty == true)
        #expect(bench.machine.journaled.answersBytes == 0)
        beat.settled = 1
        _ = bench.say(.heartbeat(beat), from: client)
        #expect(bench.machine.journaled.answersBytes == 0)
    }

    @Test func `that it has no answer to an event, which is applied all the same`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        let limit = Wire.answerBytesMax
        let out = bench.push(
            bench.batch(
                session, from: 1,
                [try bench.event(.darken("a"), wantsAnswer: true), try bench.event(.mine(limit), wantsAnswer: true)]))
        #expect(
            out.messages(to: client) == [
                .acknowledgement(
                    Self.acknowledged(
                        0, 2, [Self.applied(1, at: 1), Self.applied(2, at: 2)],
                        [
                            NumberedAnswer(number: 1, answer: .missing(.undefined)),
                            NumberedAnswer(number: 2, answer: .missing(.tooLarge)),
                        ]))
            ])
        #expect(bench.state.notes == 1)
    }

    @Test func `nothing to an event that it refuses but the reason`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        let out = bench.push(
            bench.batch(session, from: 1, [Entry(kind: .event, payload: [0xff], wantsAnswer: true)]))
        #expect(
            out.messages(to: client) == [
                details(of: 1), LoopClusterTests.acknowledged(0, 1, refused(1, .undecodable)),
            ])
    }

    @Test func `in parts that fit into messages, each entry with its answer`() throws {
        var configuration = ReducerConfiguration()
        configuration.payloadBytesMax = 100
        var bench = try ReducerBench(configuration: configuration)
        let session = bench.join(client, capacity: 0)
        let out = bench.push(
            bench.batch(
                session, from: 1,
                try [10, 60, 60, 200, 10].map { try bench.event(.mine($0), wantsAnswer: true) } + [bench.event(.note)]))
        let parts = out.messages(to: client).compactMap { message -> Acknowledgement? in
            if case .acknowledgement(let part) = message { part } else { nil }
        }
        #expect(parts.map(\.base) == [0, 1, 2, 3, 4])
        #expect(parts.map(\.watermark) == [1, 2, 3, 4, 6])
        #expect(parts.map { $0.answers.map(\.number) } == [[1], [2], [3], [4], [5]])
    }

    @Test func `no more than it may keep: a session that confirms nothing is refused before it is applied`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        let size = 300 << 10
        var number: UInt64 = 0
        var refusals: [UInt64] = []
        for _ in 0..<6 {
            number += 1
            let out = bench.push(bench.batch(session, from: number, [try bench.event(.mine(size), wantsAnswer: true)]))
            if out.messages(to: client) == [
                LoopClusterTests.acknowledged(number - 1, number, refused(number, .overloaded))
            ] {
                refusals.append(number)
            }
        }
        #expect(refusals == [5, 6])
        #expect(bench.state.notes == 4)
        // A replay does not know of confirmations, and keeps no more all the same.
        let replayed = try ReducerBench(replaying: bench.records)
        #expect(replayed.machine.journaled.sessions[session]?.answers.items.map(\.number) == [1, 2, 3, 4])

        var batch = bench.batch(session, from: 7, [try bench.event(.mine(size), wantsAnswer: true)])
        batch.settled = 6
        _ = bench.push(batch)
        #expect(bench.state.notes == 5)
        batch = bench.batch(session, from: 8, [try bench.event(.mine(size), wantsAnswer: true)])
        batch.settled = 7
        _ = bench.push(batch)
        #expect(bench.machine.journaled.sessions[session]?.answers.items.map(\.number) == [8])
        let later = try ReducerBench(replaying: bench.records)
        #expect(later.machine.journaled.sessions[session]?.answers.items.map(\.number) == [2, 3, 4, 7, 8])
    }

    @Test func `no longer than a session lasts: its bytes are free with its end, and with another history`() throws {
        for ends in [true, false] {
            var (bench, session, _) = try asked()
            let other = bench.join(bob, capacity: 0)
            _ = bench.push(bench.batch(other, from: 1, [try bench.event(.note, wantsAnswer: true)]))
            let left = ends ? try #require(bench.machine.journaled.sessions[other]?.answers.byteCount) : 0
            var state = bench.machine.journaled
            #expect(state.answersBytes > left)
            if ends {
                _ = bench.say(.goodbye(session, client, bench.machine.history), from: client)
                #expect(bench.machine.journaled.answersBytes == left)
            }
            try state.apply(ends ? .sessionRetired(session) : .historyBegun(History(0x77), state.time))
            #expect(state.answersBytes == left)
        }
    }

    @Test func `exactly what its sender does not know yet`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        let entries = try (0..<4).map { _ in try bench.event(.note, wantsAnswer: true) }
        _ = bench.push(bench.batch(session, from: 1, entries))
        for settled in UInt64(0)...4 {
            let beat = Heartbeat(
                session: session, epoch: bench.machine.epoch, echo: 0, applied: 0, settled: settled, capacity: 0)
            _ = bench.say(.heartbeat(beat), from: client)
            let record = try #require(bench.machine.journaled.sessions[session])
            #expect(record.answers.items.map(\.number) == Array(1...4).filter { $0 > settled })
            #expect(record.notable.map(\.number) == Array(1...4).filter { $0 > settled })
            #expect(bench.machine.journaled.answersBytes == record.answers.byteCount)
        }
    }

    @Test func `those that keep little, whatever others keep`() throws {
        var bench = try ReducerBench()
        let (greedy, modest) = (bench.join(client, capacity: 0), bench.join(bob, capacity: 0))
        _ = bench.push(bench.batch(modest, from: 1, [try bench.event(.note, wantsAnswer: true)]))
        _ = bench.push(bench.batch(greedy, from: 1, [try bench.event(.mine(1000), wantsAnswer: true)]))
        var state = bench.machine.journaled
        state.answersBytesMax = state.answersBytes
        let event = try bench.event(.mine(10), wantsAnswer: true)
        try state.apply(
            .event(
                EventRecord(
                    seq: Seq(3), time: state.time, session: greedy, number: 2, effect: nil, attempt: .none,
                    wantsSeq: true, wantsAnswer: true, bytes: event.payload)))
        #expect(state.sessions[greedy]?.answers.items == [])
        #expect(state.sessions[modest]?.answers.items == [try Self.answer(1, 1)])
        #expect(state.answersBytes == state.sessions[modest]?.answers.byteCount)
    }
}
