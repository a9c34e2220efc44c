import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

@Suite struct `The phase of a peer` {
    private let now = MonotonicTime(nanoseconds: 5)
    private let later = MonotonicTime(nanoseconds: 9)
    private let end = MonotonicTime(nanoseconds: .max)
    private let grant = PeerBench().grant

    private var all: [PeerPhase] {
        [
            .introducing(next: now), .joining(next: now), .claiming(next: now, AssignmentParts()),
            .joined(Joined(nextHeartbeat: now)), .leaving(next: now, by: later), .over,
        ]
    }

    private func part(_ part: UInt32) -> Assignments {
        Assignments(number: 3, watermark: 0, part: part, parts: 2, grants: [grant])
    }

    @Test func `is joined with the whole assignment, and keeps parts of the next one`() {
        var phase = PeerPhase.claiming(next: now, AssignmentParts())
        for _ in 0..<2 {
            #expect(phase.add(part(0)) == nil)
            phase.next = later
            #expect(phase.add(part(1))?.grants == [grant, grant])
            phase.assign(at: later)
            #expect(phase == .joined(Joined(nextHeartbeat: later)))
        }
    }

    @Test func `shows a gap only where commands flow, until the whole assignment is applied`() {
        let gaps = all.map { phase in
            var phase = phase
            phase.inJoined { $0.needsAssignments = true }
            return phase
        }
        #expect(gaps.map(\.needsAssignments) == [false, false, false, true, false, false])
        var joined = gaps[3]
        joined.assign(at: later)
        #expect(joined == all[3])
    }

    @Test func `goes back to joining only where the peer is admitted`() {
        let again = all.map { phase in
            var phase = phase
            phase.rejoin(at: later)
            return phase
        }
        #expect(again == [all[0], all[1], .joining(next: later), .joining(next: later), all[4], all[5]])
        #expect(all.map { $0.hasLeft } == [false, false, false, false, true, true])
    }

    @Test func `takes an assignment only where the peer is admitted`() {
        let whole = Assignments(number: 3, watermark: 0, grants: [grant])
        let taken = all.map { phase in
            var phase = phase
            return phase.add(whole) == whole
        }
        #expect(taken == [false, false, true, true, false, false])
    }

    @Test func `says when its message is due, but for the last`() {
        #expect(all.map(\.next) == [now, now, now, now, now, end])
        let delayed = all.map { phase in
            var phase = phase
            phase.next = later
            return phase
        }
        #expect(
            delayed == [
                .introducing(next: later), .joining(next: later), .claiming(next: later, AssignmentParts()),
                .joined(Joined(nextHeartbeat: later)), .leaving(next: later, by: later), .over,
            ])
    }
}
