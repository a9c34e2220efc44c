import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import Testing

/// What a standby relies on, wherever the journal is.
@Suite(.timeLimit(.minutes(2))) struct `A journal that is followed` {
    private var batches = Batches()

    /// A reader that goes on where it was.
    private struct Reader {
        let journal: any FollowedJournal
        var position: UInt64 = 0
        var checksum: UInt32? = 0
        var records: [Record] = []
        var newest: UInt64 = 0

        init(_ place: KeptPlace) throws { journal = try #require(try place.read() as? any FollowedJournal) }

        var end: RowEnd? { checksum.map { RowEnd(position: position, checksum: $0) } }

        /// - Returns: whether the journal has the row on which it stands.
        mutating func catchUp(bytesMax: Int = 1) throws -> Bool {
            while let page = try journal.page(after: position, checksum: checksum, bytesMax: bytesMax) {
                newest = page.newest
                records += page.records
                guard let end = page.end else { return true }
                (position, checksum) = (end.position, end.checksum)
            }
            return false
        }
    }

    private func end(_ journal: any Journal, _ position: UInt64) throws -> RowEnd? {
        try #require(journal as? any FollowedJournal).end(ofRowAt: position)
    }

    @Test(arguments: JournalKind.lasting)
    mutating func `gives what was appended behind a row, and has the same ends for who writes it`(
        kind: JournalKind
    ) async throws {
        let place = try await KeptPlace(kind)
        var journal = try place.open()
        var all: [Record] = []
        var reader = try Reader(place)
        #expect(try reader.catchUp() && reader.records == [])
        for size in [1, 3, 2] {
            for _ in 0..<size { all += try place.append(&batches, &journal, events: size, others: 1) }
            #expect(try reader.catchUp(bytesMax: size * 40))
            #expect(reader.records == all && reader.newest == UInt64(all.count))
            #expect(try end(journal, reader.position) == reader.end)
        }
        // The row before the newest has two events and another record.
        let before = UInt64(all.count - 3)
        #expect(try end(journal, before) == reader.journal.end(ofRowAt: before))
        #expect(try end(journal, before) != nil && end(journal, before - 1) == nil && end(journal, before + 9) == nil)
        #expect(try end(journal, 0) == RowEnd(position: 0, checksum: 0))
        journal.close()
    }

    @Test(arguments: JournalKind.lasting)
    mutating func `knows another row from the one on which a reader stands`(kind: JournalKind) async throws {
        let place = try await KeptPlace(kind)
        var journal = try place.open()
        _ = try place.append(&batches, &journal, events: 2)
        var reader = try Reader(place)
        #expect(try reader.catchUp())
        let end = try #require(reader.end)
        for following in 0..<2 {
            for bits: UInt32 in [1, 1 << 31] {
                let other = try Reader(place).journal
                #expect(try other.page(after: 2, checksum: end.checksum ^ bits, bytesMax: 1) == nil)
                #expect(try reader.journal.page(after: 2, checksum: end.checksum ^ bits, bytesMax: 1) == nil)
            }
            #expect(try reader.journal.page(after: 1, checksum: end.checksum, bytesMax: 1) == nil)
            #expect(try reader.journal.page(after: 1 << 40, checksum: end.checksum, bytesMax: 1) == nil)
            // From the middle of a row nothing is compared.
            #expect(try reader.journal.page(after: 1, checksum: nil, bytesMax: 1)?.records.count == 1)
            if following == 0 { _ = try place.append(&batches, &journal, events: 1) }
        }
        #expect(try reader.catchUp() && reader.position == 3)
        journal.close()
    }

    @Test(arguments: JournalKind.lasting)
    mutating func `has not the row of a reader after a cut, nor the reader's journal after the run has ended`(
        kind: JournalKind
    ) async throws {
        let place = try await KeptPlace(kind)
        var journal = try place.open()
        for _ in 0..<3 { _ = try place.append(&batches, &journal, events: 1) }
        var reader = try Reader(place)
        #expect(try reader.catchUp())
        journal.close()
        let cut = try #require(place.place.cut)
        try cut("test", Seq(1), false)
        #expect(try !reader.catchUp())
        var again = try Reader(place)
        #expect(try again.journal.page(after: reader.position, checksum: reader.checksum, bytesMax: 1) == nil)
        #expect(try again.catchUp())

        journal = try place.open()
        #expect(try end(journal, again.position) == again.end)
        try journal.markEnded()
        journal.close()
        #expect(try again.catchUp())
        journal = try place.open()
        #expect(try !again.catchUp())
        #expect(try end(journal, again.position) == nil)
        journal.close()
    }

    @Test(arguments: JournalKind.lasting)
    mutating func `has not the row of a reader that a trim has overtaken`(kind: JournalKind) async throws {
        let place = try await KeptPlace(kind)
        var journal = try place.open()
        for _ in 0..<2 { _ = try place.append(&batches, &journal, events: 1) }
        var slow = try Reader(place)
        #expect(try slow.catchUp())
        for _ in 0..<4 { _ = try place.append(&batches, &journal, events: 1) }
        var level = try Reader(place)
        #expect(try level.catchUp())
        for position: UInt64 in [4, 5] {
            let writer = try #require(journal.snapshotWriter)
            try journal.add(writer(SnapshotEntry(position: position, seq: Seq(position), fingerprint: 1), [1, 2, 3]))
        }
        _ = try journal.trim(before: Seq(5))
        #expect(try !slow.catchUp())
        #expect(try level.catchUp())
        // Where the rest begins one may stand.
        let base = try #require(try level.journal.end(ofRowAt: 4))
        #expect(try level.journal.page(after: 4, checksum: base.checksum, bytesMax: 1)?.records.count == 1)
        #expect(try end(journal, 3) == nil)
        journal.close()
    }
}
