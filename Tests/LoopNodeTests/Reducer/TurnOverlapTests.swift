import LoopCore
import Testing

@testable import LoopNode

@Suite struct `The overlap of turns` {
    @Test func `is two turns where the database is near, however long they wait behind each other`() {
        var overlap = TurnOverlap()
        #expect(overlap.turnsLimit == 2)
        overlap.note(wait: .microseconds(500), ahead: 0)
        for _ in 0..<20 {
            overlap.note(wait: .microseconds(900), ahead: 1)
            #expect(overlap.turnsLimit == 2)
        }
    }

    @Test func `is four turns where the way to the database takes longer than the commit`() {
        var overlap = TurnOverlap()
        overlap.note(wait: .microseconds(2600), ahead: 0)
        var limits: [Int] = []
        for _ in 0..<5 {
            // Each is sent as soon as it may be.
            overlap.note(wait: .microseconds(2700), ahead: overlap.turnsLimit - 1)
            limits.append(overlap.turnsLimit)
        }
        #expect(limits == [3, 4, 4, 4, 4])
    }

    @Test func `shrinks when turns wait twice as long as one that is alone`() {
        var overlap = TurnOverlap(far: .milliseconds(2))
        #expect(overlap.turnsLimit == 4)
        // One that waited behind fewer says nothing of the limit.
        overlap.note(wait: .milliseconds(20), ahead: 1)
        #expect(overlap.turnsLimit == 4)
        overlap.note(wait: .milliseconds(5), ahead: 3)
        #expect(overlap.turnsLimit == 3)
        for _ in 0..<5 { overlap.note(wait: .milliseconds(5), ahead: overlap.turnsLimit - 1) }
        #expect(overlap.turnsLimit == 2)
    }

    /// Without that, a failover to another server would never be noticed under load.
    @Test func `lets one turn go alone after 256 others, and forgets those of eight rounds ago`() {
        var overlap = TurnOverlap(far: .milliseconds(2))
        overlap.note(wait: .milliseconds(2), ahead: 0)
        for _ in 0..<8 {
            for _ in 0..<255 { overlap.note(wait: .milliseconds(6), ahead: 1) }
            #expect(overlap.turnsLimit > 1)
            overlap.note(wait: .milliseconds(6), ahead: 1)
            #expect(overlap.turnsLimit == 1)
            overlap.note(wait: .milliseconds(5), ahead: 0)
        }
        // What waited three times as long as one alone, eight rounds ago, does not any more.
        for _ in 0..<2 { overlap.note(wait: .milliseconds(6), ahead: overlap.turnsLimit - 1) }
        #expect(overlap.turnsLimit == 4)
    }

    @Test func `stays below the frames after which an observer returns to an older epoch`() {
        #expect(TurnOverlap.turnsMax + 1 < 8)
    }

    /// A gap of more than half the silence limit is the reducer's own.
    @Test func `hides no more than a sixteenth of the silence limit from the leases`() {
        #expect(TurnOverlap.standstill(silenceLimit: .milliseconds(1600)) == .milliseconds(100))
    }
}

extension TurnOverlap {
    /// One that has found a database far away.
    fileprivate init(far wait: Duration) {
        self.init()
        note(wait: wait, ahead: 0)
        for _ in 0..<2 { note(wait: wait, ahead: turnsLimit - 1) }
    }
}
