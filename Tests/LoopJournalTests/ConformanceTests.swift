import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import Testing

/// What a reducer relies on, wherever its journal is.
@Suite(.timeLimit(.minutes(2))) struct `A journal of any kind` {
    private var batches = Batches()

    @Test(arguments: JournalKind.allCases)
    func `holds every kind of record`(kind: JournalKind) async throws {
        let place = try await KeptPlace(kind)
        var journal = try place.open()
        let records = Examples.records.filter { if case .event = $0 { false } else { true } }
        _ = try journal.append(records, through: UInt64(records.count))
        #expect(try journal.all() == records)
        journal.close()
    }

    @Test(arguments: JournalKind.allCases)
    mutating func `is read in pages that begin anywhere and hold something`(kind: JournalKind) async throws {
        let place = try await KeptPlace(kind)
        var journal = try place.open()
        var records: [Record] = []
        for size in [1, 2, 3, 5, 1, 4] { records += try place.append(&batches, &journal, events: size, others: 1) }
        for bytesMax in [0, 1, 30, 100, 1 << 20] {
            for position in 0...records.count {
                #expect(try journal.all(after: UInt64(position), bytesMax: bytesMax) == Array(records[position...]))
            }
        }
        #expect(try journal.records(after: 1 << 40, bytesMax: 1).isEmpty)
        journal.close()
    }

    @Test(arguments: JournalKind.lasting)
    mutating func `ends a page about where it should`(kind: JournalKind) async throws {
        let place = try await KeptPlace(kind)
        var journal = try place.open()
        for size in [1, 2] { _ = try place.append(&batches, &journal, events: size, others: 1) }
        // A page has the row that it begins in, and at most one row more than fits.
        #expect(try journal.records(after: 0, bytesMax: 1).count == 2)
        #expect(try journal.records(after: 3, bytesMax: 1).count == 2)
        journal.close()
    }

    @Test(arguments: JournalKind.lasting)
    mutating func `finds the position before a seq`(kind: JournalKind) async throws {
        let place = try await KeptPlace(kind)
        var journal = try place.open()
        var records: [Record] = []
        for size in [1, 2, 3, 0, 5, 1, 40, 1, 0, 7] {
            records += try place.append(&batches, &journal, events: size, others: 1)
        }
        for seq in 1...batches.seq {
            let position = try journal.position(before: Seq(seq))
            let first = records[Int(position)...].lazy.compactMap { record in
                if case .event(let event) = record { event.seq.value } else { nil }
            }.first
            let found = try #require(first)
            #expect(found <= seq && seq - found < 40)
        }
        #expect(try journal.position(before: Seq(batches.seq + 1)) == journal.position)
        #expect(try journal.position(before: .initial) == 0)
        #expect(try journal.firstSeq() == Seq(1))
        journal.close()
    }

    @Test(arguments: JournalKind.allCases)
    func `refuses records that end elsewhere`(kind: JournalKind) async throws {
        var journal = try await KeptPlace(kind).open()
        let error = #expect(throws: JournalError.self) {
            try journal.append([.skipped(SessionID(1), number: 1)], through: 2)
        }
        #expect(error?.kind == .misuse)
        journal.close()
    }

    @Test(arguments: JournalKind.lasting)
    func `refuses events that do not follow, and everything behind them`(kind: JournalKind) async throws {
        let place = try await KeptPlace(kind)
        var journal = try place.open()
        _ = try journal.append([.event(Examples.event(1))], through: 1)
        let error = #expect(throws: JournalError.self) {
            try journal.append([.event(Examples.event(3))], through: 2)
        }
        #expect(error?.kind == .misuse)
        #expect(error?.reason == "event 3 follows event 1")
        // What it takes for the state of the loop is not what its caller does: nothing more is written.
        #expect(throws: JournalError.self) { try journal.append([.event(Examples.event(2))], through: 2) }
        journal.close()
        #expect(try place.read().all() == [.event(Examples.event(1))])
    }

    @Test(arguments: JournalKind.allCases)
    func `appends nothing without a record`(kind: JournalKind) async throws {
        var journal = try await KeptPlace(kind).open()
        #expect(try journal.append([], through: 0).position == 0)
        #expect(try journal.all() == [])
        journal.close()
    }

    @Test(arguments: JournalKind.allCases)
    mutating func `gives receipts in order for appends that were begun one behind the other`(
        kind: JournalKind
    ) async throws {
        let place = try await KeptPlace(kind)
        var journal = try place.open()
        var records: [Record] = []
        var proven: [UInt64] = []
        for size in [3, 1, 2] {
            let batch = batches.next(events: size, others: 1)
            records += batch
            // The position is counted from what was begun, whether it has its receipt or not.
            if let receipt = try journal.beginAppend(RecordLog(batch), through: UInt64(records.count)) {
                proven.append(receipt.position)
            }
        }
        while let receipt = try journal.takeReceipt(waits: true) { proven.append(receipt.position) }
        #expect(proven == [4, 6, 9])
        #expect(journal.position == 9)
        // An append that waits has the receipts of all that were begun before.
        let batch = [batches.next(events: 1, others: 0), batches.next(events: 2, others: 0)]
        _ = try journal.beginAppend(RecordLog(batch[0]), through: 10)
        #expect(try journal.append(batch[1], through: 12).position == 12)
        #expect(try journal.takeReceipt(waits: true) == nil)
        #expect(try journal.all() == records + batch[0] + batch[1])
        let error = #expect(throws: JournalError.self) {
            _ = try journal.beginAppend(RecordLog([.skipped(SessionID(1), number: 1)]), through: 14)
        }
        #expect(error?.kind == .misuse)
        journal.close()
    }

    @Test(arguments: JournalKind.lasting, Durability.allCases)
    mutating func `gives back what was appended after it was opened again`(
        kind: JournalKind, durability: Durability
    ) async throws {
        let place = try await KeptPlace(kind)
        var journal = try place.open("test", durability)
        let history = journal.history
        var records: [Record] = []
        for size in [1, 8, 64, 1, 300] {
            records += try place.append(&batches, &journal, events: size, others: size % 3)
        }
        // Numbers that are never given again are synced, whatever the durability.
        let epoch: [Record] = [.epochBegun(Epoch(number: 1, nonce: 2), Examples.time)]
        _ = try journal.append(epoch, through: journal.position + 1)
        records += epoch
        journal.close()

        var again = try place.open("test", durability)
        #expect(again.history == history && again.position == UInt64(records.count))
        #expect(try again.all() == records)
        records += try place.append(&batches, &again, events: 3)
        again.close()
        #expect(try place.read().all() == records)
    }

    @Test(arguments: JournalKind.lasting)
    mutating func `can be written by one at a time, and read by others`(kind: JournalKind) async throws {
        let place = try await KeptPlace(kind)
        var journal = try place.open()
        var records = try place.append(&batches, &journal, events: 3)
        for open in [{ try place.open() }, { try place.openElsewhere() }] {
            #expect(#expect(throws: JournalError.self) { _ = try open() }?.kind == .locked)
        }
        var reader = try place.read()
        #expect(reader.history == journal.history)
        #expect(try reader.all() == records)
        records += try place.append(&batches, &journal, events: 5)
        #expect(try reader.all(after: 3) == Array(records[3...]))
        #expect(reader.position == 8)
        #expect(throws: JournalError.self) { try reader.append([.skipped(SessionID(1), number: 1)], through: 9) }
        reader.close()
        journal.close()
        var other = try place.openElsewhere()
        #expect(try other.all() == records)
        other.close()
    }

    @Test(arguments: JournalKind.lasting)
    mutating func `makes room for the next run once its own has ended`(kind: JournalKind) async throws {
        let place = try await KeptPlace(kind)
        for _ in 0..<2 {
            batches = Batches()
            var journal = try place.open()
            #expect(journal.position == 0)
            _ = try place.append(&batches, &journal, events: 2)
            try journal.markEnded()
            journal.close()
        }
        var journal = try place.open()
        #expect(journal.position == 0)
        journal.close()
    }

    @Test(arguments: JournalKind.lasting)
    mutating func `has its newest three snapshots, and trims up to the second newest`(kind: JournalKind) async throws {
        let place = try await KeptPlace(kind)
        var journal = try place.open()
        var records: [Record] = []
        var entries: [SnapshotEntry] = []
        for number in 1...5 {
            records += try place.append(&batches, &journal, events: 10)
            let write = try #require(journal.snapshotWriter)
            let content = [UInt8](repeating: UInt8(number), count: number * 200_000)
            let entry = SnapshotEntry(
                position: journal.position, seq: Seq(batches.seq), fingerprint: .max - UInt64(number))
            entries.append(try write(entry, content))
            try journal.add(entries[number - 1])
        }
        #expect(try journal.snapshots() == entries.suffix(3).reversed())
        journal.close()

        journal = try place.open()
        #expect(try journal.snapshots() == entries.suffix(3).reversed())
        for (number, entry) in zip(3...5, entries.suffix(3)) {
            #expect(entry.byteCount == number * 200_000)
            #expect(try journal.content(of: entry) == [UInt8](repeating: UInt8(number), count: number * 200_000))
        }
        #expect(throws: JournalError.self) { try journal.content(of: entries[0]) }
        #expect(try journal.trim(before: Seq(30)) == Seq(1))
        #expect(try journal.trim(before: Seq(40)) == Seq(31))
        #expect(try journal.trim(before: Seq(1000)) == Seq(41))
        #expect(try journal.firstSeq() == Seq(41))
        #expect(
            #expect(throws: JournalError.self) { try journal.records(after: 39, bytesMax: 1) }?.kind == .trimmed)
        #expect(try journal.all(after: 40) == Array(records[40...]))
        records += try place.append(&batches, &journal, events: 10)
        journal.close()

        journal = try place.open()
        #expect(try journal.all(after: 40) == Array(records[40...]))
        #expect(try journal.position(before: Seq(1)) == 40)
        #expect(try journal.snapshots() == entries.suffix(2).reversed())
        // The one at the cut stays, however many there are after it.
        for number in 6...9 {
            records += try place.append(&batches, &journal, events: 10)
            let write = try #require(journal.snapshotWriter)
            let entry = SnapshotEntry(position: journal.position, seq: Seq(batches.seq), fingerprint: UInt64(number))
            try journal.add(try write(entry, [1, 2, 3]))
        }
        #expect(try journal.snapshots().map(\.position) == [100, 90, 80, 40])
        #expect(try journal.content(of: entries[3]).count == 800_000)
        journal.close()
    }

    @Test(arguments: JournalKind.lasting)
    mutating func `takes only snapshots of what is there`(kind: JournalKind) async throws {
        let place = try await KeptPlace(kind)
        var journal = try place.open()
        _ = try place.append(&batches, &journal, events: 2)
        for position: UInt64 in [3, 1 << 62, .max] {
            #expect(throws: JournalError.self) {
                try journal.add(SnapshotEntry(position: position, seq: Seq(2), fingerprint: 0))
            }
        }
        #expect(try journal.snapshots() == [])
        journal.close()
    }

    @Test(arguments: JournalKind.lasting, [0, 1, 2, 3, 4, 5, 9, 10] as [UInt64])
    mutating func `is cut after any seq, in a new history`(kind: JournalKind, seq: UInt64) async throws {
        let place = try await KeptPlace(kind)
        var journal = try place.open()
        let history = journal.history
        var records: [Record] = []
        for size in [1, 3, 0, 2, 4] { records += try place.append(&batches, &journal, events: size, others: 2) }
        let cut = try #require(place.place.cut)
        #expect(#expect(throws: JournalError.self) { try place.others.cut?("test", Seq(seq), false) }?.kind == .locked)
        journal.close()
        try cut("test", Seq(seq), false)
        let end =
            records.firstIndex { if case .event(let event) = $0 { event.seq.value > seq } else { false } }
            ?? records.count
        journal = try place.open()
        let kept = try journal.all()
        #expect(Array(kept.dropLast()) == Array(records[..<end]))
        guard case .historyBegun(let new, _)? = kept.last else {
            Issue.record("no new history: \(kept)")
            return
        }
        #expect(new != history && journal.history == history)
        _ = try journal.append([.event(Examples.event(seq + 1))], through: UInt64(end) + 2)
        journal.close()
        #expect(#expect(throws: JournalError.self) { try cut("test", Seq(seq + 2), false) }?.kind == .misuse)
    }
}
