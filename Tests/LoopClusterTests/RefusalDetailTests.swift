import CBOR
import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

/// Why an event was refused is told to its sender in words, next to the reason.
@Suite struct `The detail of a refusal` {
    private static let why = "at darken._0: expected text, found 3"

    private static func wrong(_ count: Int = 1) throws -> [Entry] {
        let bytes = try CBOR.fromJSON(text: #"{"darken":{"_0":3}}"#)
        return Array(repeating: Entry(kind: .event, payload: bytes[...]), count: count)
    }

    private static func details(in messages: [ToPeer]) -> [RefusalDetail] {
        messages.flatMap { message -> [RefusalDetail] in
            if case .refusalDetails(let details) = message { details } else { [] }
        }
    }

    // MARK: At the reducer

    @Test func `is in the record, and leaves before the acknowledgement`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        let out = bench.push(bench.batch(session, from: 1, try Self.wrong()))
        #expect(
            bench.records.last
                == .refused(
                    RefusalRecord(
                        session: session, number: 1, reason: .undecodable, effect: nil, attempt: .none,
                        detail: Self.why)))
        #expect(
            out.messages(to: client) == [
                .refusalDetails([RefusalDetail(number: 1, text: Self.why)]),
                acknowledged(0, 1, refused(1, .undecodable)),
            ])
    }

    @Test func `is told again with the outcomes, also after a replay, until they are settled`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        _ = bench.push(bench.batch(session, from: 1, try Self.wrong(2)))
        let request = ToReducer.outcomesRequest(session, after: 1)
        let told = [
            ToPeer.refusalDetails([RefusalDetail(number: 2, text: Self.why)]),
            .outcomes(Acknowledgement(base: 1, watermark: 2, notable: [refused(2, .undecodable)])),
        ]
        #expect(bench.say(request, from: client).messages(to: client) == told)

        var again = try ReducerBench(replaying: bench.records, at: bench.time + 1000)
        var joinRequest = ReducerBench.joinRequest(client, capacity: 0)
        (joinRequest.session, joinRequest.history) = (session, bench.machine.history)
        joinRequest.epoch = bench.machine.epoch
        _ = again.say(.join(joinRequest), from: client)
        _ = again.say(.claim(session, again.machine.epoch, []), from: client)
        #expect(again.say(request, from: client).messages(to: client) == told)
        var core = again.machine.journaled
        core.forgetOutcomes(of: session, upTo: 2)
        #expect(core.sessions[session]?.details == [])
    }

    @Test func `is found for sixteen events in a second, and then for others in the next`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        let first = bench.push(bench.batch(session, from: 1, try Self.wrong(20))).messages(to: client)
        #expect(Self.details(in: first).map(\.number) == Array(1...16))
        #expect(bench.machine.counters[.refusedUndecodable] == 20)
        bench.time += 1001
        let next = bench.push(bench.batch(session, from: 21, try Self.wrong(2))).messages(to: client)
        #expect(Self.details(in: next).map(\.number) == [21, 22])
        // The newest are kept, as many as were found in a second.
        #expect(bench.machine.journaled.sessions[session]?.details.map(\.number) == Array(3...16) + [21, 22])
    }

    @Test func `is not looked for in large events`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        let bytes = [UInt8](repeating: 0xff, count: (16 << 10) + 1)
        let out = bench.push(bench.batch(session, from: 1, [Entry(kind: .event, payload: bytes[...])]))
        #expect(out.messages(to: client) == [acknowledged(0, 1, refused(1, .undecodable))])
    }

    // MARK: At the sender

    @Test func `is heard before the refusal, and belongs to it`() throws {
        var bench = PeerBench()
        bench.join()
        for _ in 1...2 { _ = bench.send() }
        bench.push()
        #expect(bench.publish(.refusalDetails([RefusalDetail(number: 1, text: Self.why)])) == [])
        #expect(
            bench.acknowledge(0, 2, refused(1, .undecodable), refused(2, .undecodable)) == [
                .settled(number: 1, .refused(.undecodable), detail: Self.why),
                .settled(number: 2, .refused(.undecodable)),
            ])
        // What comes late is of nothing that waits.
        #expect(bench.publish(.refusalDetails([RefusalDetail(number: 2, text: Self.why)])) == [])
        #expect(bench.machine.details == HeardDetails())
    }

    @Test func `is not taken for that of another session`() throws {
        var bench = PeerBench()
        bench.join()
        _ = bench.send()
        bench.push()
        var other = bench
        other.session = SessionID(2)
        let foreign = other.frame(.refusalDetails([RefusalDetail(number: 1, text: Self.why)]))
        bench.machine.receivePublished(foreign, at: bench.now)
        #expect(
            bench.acknowledge(0, 1, refused(1, .undecodable)) == [.settled(number: 1, .refused(.undecodable))])
    }

    @Test func `is kept for a bounded number of entries`() throws {
        var details = HeardDetails()
        for number in 1...1000 as ClosedRange<UInt64> {
            details.hear([RefusalDetail(number: number, text: "no")], above: 0)
        }
        #expect(details.text(of: 64) == "no")
        #expect(details.text(of: 65) == "")
        details.forget(upTo: 1000)
        #expect(details == HeardDetails())
    }

    // MARK: For people

    @Test func `is in the history, behind the reason`() throws {
        let refusal = RefusalRecord(
            session: SessionID(4), number: 1, reason: .undecodable, effect: nil, attempt: .none, detail: Self.why)
        #expect(HistoryRecord(.refused(refusal), position: 1, seq: Seq(1)).note == "undecodable: \(Self.why)")
    }
}
