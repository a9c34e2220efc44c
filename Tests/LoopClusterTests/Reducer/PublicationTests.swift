import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

@Suite struct `Publication alone` {
    @Test func `acknowledges from where the peer was told last, once for each turn`() throws {
        var bench = try PartBench()
        let session = try bench.join(alice)
        let publication = Publication(at: bench.context.now)
        try bench.journaled.apply(.skipped(session, number: 1))
        bench.turn.owesAcknowledgement(to: session)
        bench.turn.owesAcknowledgement(to: session)
        publication.acknowledge(&bench.admission.members, bench.journaled, &bench.turn, bench.context)
        try bench.journaled.apply(.skipped(session, number: 2))
        bench.turn.owesAcknowledgement(to: session)
        publication.acknowledge(&bench.admission.members, bench.journaled, &bench.turn, bench.context)
        publication.acknowledge(&bench.admission.members, bench.journaled, &bench.turn, bench.context)
        #expect(
            bench.turn.messages == [
                .inbox(alice, bench.frame(acknowledged(0, 1), session)),
                .inbox(alice, bench.frame(acknowledged(1, 2), session)),
            ])
    }

    @Test func `ticks at its interval`() throws {
        var bench = try PartBench()
        var publication = Publication(at: bench.context.now)
        #expect(publication.beginTick(.initial, bench.context) == true)
        #expect(publication.beginTick(.initial, bench.context) == false)
        #expect(publication.nextTick == bench.now + .milliseconds(500))
        bench.pass(500)
        #expect(publication.beginTick(.initial, bench.context) == true)
    }

    @Test func `says what was read, unless batches wait unread`() throws {
        var bench = try PartBench()
        let session = try bench.join(alice)
        let member = try #require(bench.admission.members[session])
        var publication = Publication(at: bench.context.now)
        func tick(resend: Bool = false) -> ToPeer {
            publication.tick(of: member, watermark: 3, read: 5, resend: resend, bench.context)
        }
        func expected(_ received: UInt64, resend: Bool = false) -> ToPeer {
            .tick(Tick(number: 0, watermark: 3, received: received, stamp: bench.now.nanoseconds, resend: resend))
        }
        #expect(tick() == expected(5))
        publication.hasUnreadBatches = true
        #expect(tick() == expected(.max))
        #expect(tick(resend: true) == expected(5, resend: true))
    }
}
