import LoopCluster
import LoopCollections
import LoopCore
import LoopNode
import LoopPostgres
import LoopWire
import TestDatabase
import TestFolders
import Testing

@Suite(.timeLimit(.minutes(2))) struct `A journal in a database that is free` {
    private let test: TestJournal
    /// The position of its newest record: at a tenth of a millisecond for each, 100 s of reading.
    private static let end = UInt64(1_000_000)

    init() async throws {
        test = try await TestJournal()
        try test.open().close()
        try test.run(
            "UPDATE loop_journal SET position = \(Self.end), trimmed_position = \(Self.end) WHERE kept_as = 'current'")
    }

    /// An opening of a candidate that has followed the journal up to a position.
    private func opening(
        _ candidate: Candidate = Candidate(), reached position: @escaping @Sendable () -> UInt64
    ) -> JournalPlace.Opening {
        candidate.opening {
            var report = FollowingReport()
            report.position = position()
            return report
        }
    }

    @Test func `is left to the candidate that is closest to its end`() async throws {
        let (reached, far) = (Locked(UInt64(0)), Candidate())
        let opening = opening(far, reached: { reached.withLock { $0 } })
        let url = test.url
        let waiting = Task {
            try await NodeThread.run("far") {
                var journal = try JournalPlace.postgres(url).open(opening)
                far.isOpen.withLock { $0 = true }
                _ = try journal.append(RecordLog([record(2)]), through: Self.end + 2)
                journal.close()
            }
        }
        try await far.wait(forLooks: 3)
        var near = try JournalPlace.postgres(url).open(self.opening(reached: { Self.end }))
        #expect(!far.isOpen.withLock { $0 })
        _ = try near.append(RecordLog([record(1)]), through: Self.end + 1)
        // It has followed on meanwhile, and waits no more.
        reached.withLock { $0 = Self.end + 1 }
        near.close()
        try await waiting.value
        let reader = try PostgresJournal.read(url, loop: "test")
        #expect(try reader.records(after: Self.end, bytesMax: 1 << 20) == [record(1), record(2)])
        reader.close()
    }

    @Test func `is taken at once by a candidate that has followed nothing and can begin at a snapshot of its end`()
        async throws
    {
        try test.run(
            """
            INSERT INTO loop_snapshot (journal_id, position, seq, fingerprint, byte_count, checksum, term)
                SELECT id, \(Self.end), 0, 0, 0, 0, 0 FROM loop_journal
            """)
        let candidate = Candidate()
        var journal = try JournalPlace.postgres(test.url).open(opening(candidate, reached: { 0 }))
        // The first look finds it free.
        #expect(candidate.looks.withLock { $0 } == 1)
        journal.close()
    }

    @Test func `has no owner to whom peers are sent`() throws {
        try test.open { $0.address = "tcp://gone:7710" }.close()
        // The opening calls on this thread.
        nonisolated(unsafe) var owners: [JournalOwner] = []
        try test.open {
            $0.whileWaiting = { owner in
                owners.append(owner)
                return true
            }
        }.close()
        #expect(!owners.isEmpty && owners.allSatisfy { $0.address == nil }, "\(owners)")
    }

    @Test func `is left to others in proportion to the records that are to be read, and for two leases at most`() {
        var opening = opening(reached: { 400 })
        #expect(opening.headStart(newest: 400) == .zero)
        #expect(opening.headStart(newest: 500) == .milliseconds(10))
        #expect(opening.headStart(newest: 500, snapshot: 450) == .milliseconds(5))
        // What was followed beyond its end is gone, so that everything is to be read.
        #expect(opening.headStart(newest: 300) == .milliseconds(30))
        #expect(opening.headStart(newest: .max) == .microseconds(100) * (1 << 24))
        opening.lease = .milliseconds(4)
        #expect(opening.headStart(newest: 500) == .milliseconds(8))
        // A file does not say where it ends: what is known of it counts.
        #expect(opening.headStart() == .milliseconds(8))
        opening.following = {
            var report = FollowingReport()
            (report.coldBecause, report.lag) = (nil, 20)
            return report
        }
        #expect(opening.headStart() == .milliseconds(2))
        opening.following = nil
        #expect(opening.headStart(newest: 500) == .zero && opening.headStart() == .zero)
    }
}
