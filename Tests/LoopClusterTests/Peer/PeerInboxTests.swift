import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

@Suite struct `The inbox of a peer` {
    @Test func `is reported at once after 64 messages`() {
        var inbox = PeerInbox()
        inbox.apply(upTo: 63)
        #expect(!inbox.isReportDue)
        inbox.apply(upTo: 64)
        #expect(inbox.isReportDue)
        inbox.report()
        #expect(!inbox.isReportDue && inbox.applied == 64)
    }

    @Test func `never goes back`() {
        var inbox = PeerInbox()
        inbox.apply(upTo: 7)
        inbox.apply(upTo: 3)
        for stamp: UInt64 in [9, 8] {
            inbox.hear(Tick(number: 0, watermark: 0, received: 0, stamp: stamp, resend: false))
        }
        #expect(inbox.applied == 7 && inbox.echo == 9)
    }
}

@Suite struct `The parts of an assignment` {
    private let grants = (0..<3 as Range<UInt32>).map { index in
        Grant(
            effect: EffectID(feedback: 0, seq: Seq(1), index: index), attempt: Attempt(epoch: 1, count: 1),
            version: Seq(1), failures: 0, isResumed: false, request: [1])
    }

    private func part(_ part: Int, of number: UInt64 = 5) -> Assignments {
        Assignments(number: number, watermark: 2, part: UInt32(part), parts: 3, grants: [grants[part]])
    }

    @Test func `are put together`() {
        var parts = AssignmentParts()
        #expect(parts.add(part(0)) == nil)
        #expect(parts.add(part(1)) == nil)
        #expect(parts.add(part(2)) == Assignments(number: 5, watermark: 2, part: 2, parts: 3, grants: grants))
        #expect(parts == AssignmentParts())
    }

    @Test func `are of no use after one that is missing, repeated, or of another assignment`() {
        for wrong in [part(2), part(1, of: 6)] {
            var parts = AssignmentParts()
            _ = parts.add(part(0))
            #expect(parts.add(wrong) == nil)
            #expect(parts == AssignmentParts())
        }
        var parts = AssignmentParts()
        for part in [part(0), part(1), part(1), part(2)] { #expect(parts.add(part) == nil) }
    }

    @Test func `begin again with a first part`() {
        var parts = AssignmentParts()
        for part in [part(0), part(1), part(0, of: 6), part(1, of: 6)] { #expect(parts.add(part) == nil) }
        #expect(parts.add(part(2, of: 6))?.grants == grants)
    }
}
