import LoopCluster
import LoopCore
import LoopLock
import LoopNode
import LoopPostgres
import LoopWire
import TestDatabase
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

    /// A candidate, as another process would be, that has followed the journal up to a position.
    private func opening(
        reached position: @escaping @Sendable () -> UInt64, looks: Locked<Int> = Locked(0)
    ) -> JournalPlace.Opening {
        var opening = JournalPlace.Opening(
            loop: "test", durability: .fsync, waits: true,
            whileWaiting: { _ in
                looks.withLock { $0 += 1 }
                return true
            }, isStopping: { false }, note: { _ in })
        opening.lease = .seconds(3600)
        opening.following = {
            var report = FollowingReport()
            report.position = position()
            return report
        }
        return opening
    }

    @Test func `is left to the candidate that is closest to its end`() async throws {
        let (reached, looks, isOpen) = (Locked(UInt64(0)), Locked(0), Locked(false))
        let opening = opening(reached: { reached.withLock { $0 } }, looks: looks)
        let url = test.url
        let far = Task {
            try await NodeThread.run("far") {
                var journal = try JournalPlace.postgres(url).open(opening)
                isOpen.withLock { $0 = true }
                _ = try journal.append(RecordLog([record(2)]), through: Self.end + 2)
                journal.close()
            }
        }
        while looks.withLock({ $0 }) < 3, !isOpen.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
        var near = try JournalPlace.postgres(url).open(self.opening(reached: { Self.end }))
        #expect(!isOpen.withLock { $0 })
        _ = try near.append(RecordLog([record(1)]), through: Self.end + 1)
        // It has followed on meanwhile, and waits no more.
        reached.withLock { $0 = Self.end + 1 }
        near.close()
        try await far.value
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
        let looks = Locked(0)
        var journal = try JournalPlace.postgres(test.url).open(opening(reached: { 0 }, looks: looks))
        // The first look finds it free.
        #expect(looks.withLock { $0 } == 1)
        journal.close()
    }

    @Test func `has no owner to whom peers are sent`() throws {
        try test.open { $0.address = "tcp://gone:7710" }.close()
        var owners: [JournalOwner] = []
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
