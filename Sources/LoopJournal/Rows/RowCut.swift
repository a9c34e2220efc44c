internal import CBOR
package import LoopCluster
package import LoopCore
package import LoopWire

/// The part of a journal that a cut keeps: the rows up to a seq, a part of the row with the next event, and a record of a new
/// history. A cut is the remedy if a journal is damaged in the middle, or if its end is not wanted.
package struct RowCut {
    package let reader: RowReader
    package let seq: Seq

    package init(_ reader: RowReader, after seq: Seq) {
        self.reader = reader
        self.seq = seq
    }

    /// Refuses a cut before a snapshot from which a start continues.
    /// - Parameters:
    ///   - snapshots: the snapshots, the newest first.
    ///   - isIntact: reads a snapshot and checks it.
    /// - Throws: `JournalError` of kind `.misuse`. Also what `isIntact` throws.
    package func check(
        _ snapshots: [SnapshotEntry], isIntact: (SnapshotEntry) throws(JournalError) -> Bool
    ) throws(JournalError) {
        for snapshot in snapshots where snapshot.seq > seq {
            guard try isIntact(snapshot) else { continue }
            throw JournalError(
                .misuse, operation: "be cut after seq \(seq)",
                reason: "the snapshot at seq \(snapshot.seq) is intact, so events up to seq \(reader.tail.seq)"
                    + " need not be lost",
                remedy: "forget only what is before it, if that is damaged: trim --before \(snapshot.seq.value &+ 1);"
                    + " or lose the events after seq \(seq): trim --after \(seq) --force")
        }
    }

    /// Refuses a cut after which no start could continue: the first records were trimmed, and no snapshot that replaces them is
    /// intact.
    /// - Parameters:
    ///   - kept: the snapshots that are kept.
    ///   - isIntact: reads a snapshot and checks it.
    /// - Throws: `JournalError` of kind `.corrupt`. Also what `isIntact` throws.
    package func checkStart(
        from kept: [SnapshotEntry], isIntact: (SnapshotEntry) throws(JournalError) -> Bool
    ) throws(JournalError) {
        if reader.base == .start { return }
        for snapshot in kept {
            if try isIntact(snapshot) { return }
        }
        throw JournalError(
            .corrupt, operation: "be cut after seq \(seq)",
            reason:
                "its first records were trimmed, and no snapshot up to it is intact, so no reducer could start on what is"
                + " kept",
            remedy: "put a copy of the snapshots back, or give a later seq")
    }

    /// Passes the kept rows to `insert`, in order, and at last the row with the new history.
    /// - Returns: the end of the kept rows, without that last one.
    /// - Throws: `JournalError` of kind `.corrupt` if an event up to the seq cannot be read. Of kind `.misuse` if the journal
    ///   begins after the seq or ends before it. Also what `insert` throws.
    package func copy(
        _ source: some BatchRows, newHistory: History, at time: WallTime,
        insert: (BatchRow, Span<UInt8>) throws(JournalError) -> Void
    ) throws(JournalError) -> ChainLink {
        let operation = "be cut after seq \(seq)"
        let base = reader.base
        guard seq.value >= base.seq else {
            throw JournalError(
                .misuse, operation: operation, reason: "the events up to \(base.seq) were trimmed",
                remedy: "give the seq of an event that is there")
        }
        var link = base
        do throws(JournalError) {
            try source.forEachRow(from: base.position + 1, bytesMax: 1 << 20) { row, bytes throws(JournalError) in
                let row = try reader.checked(row, after: link, bytes)
                if row.lastSeq <= seq.value {
                    try insert(row, bytes)
                    link = row.link
                    return true
                }
                var records: [UInt8] = []
                records.append(copying: bytes)
                let kept = try prefix(of: records, row)
                records.removeLast(records.count - kept.bytes)
                if kept.count > 0 {
                    let part = BatchRow(
                        after: link, count: kept.count, lastSeq: max(seq.value, link.seq), records: records.span)
                    try insert(part, records.span)
                    link = part.link
                }
                return false
            }
        } catch {
            // A cut may drop damage behind what is kept.
            guard error.kind == .corrupt, link.seq >= seq.value else { throw error }
        }
        guard link.seq >= seq.value else {
            throw .afterNewest(Seq(link.seq), operation)
        }
        var record: [UInt8] = []
        Record.historyBegun(newHistory, time).write(to: &record)
        try insert(BatchRow(after: link, count: 1, lastSeq: link.seq, records: record.span), record.span)
        return link
    }

    /// The number of records before the first event behind the seq, and their size in bytes.
    private func prefix(of bytes: [UInt8], _ row: BatchRow) throws(JournalError) -> (count: UInt64, bytes: Int) {
        var reader = ByteReader(bytes)
        var count: UInt64 = 0
        do throws(WireError) {
            while !reader.isAtEnd {
                let start = reader.position
                if case .event(let event) = try Record(from: &reader), event.seq > seq { return (count, start) }
                count += 1
            }
        } catch {
            throw self.reader.damaged(row, "\(error)")
        }
        return (count, bytes.count)
    }
}
