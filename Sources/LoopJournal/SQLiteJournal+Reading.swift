import CBOR
public import LoopCluster
public import LoopCore
internal import LoopWire

extension SQLiteJournal {
    /// A page of the records after a position, in order; empty at the end. Every row that is read is checked.
    /// - Parameters:
    ///   - position: the last position that is not wanted; 0 begins with the first record.
    ///   - bytesMax: about how many bytes of records; at least one row is read.
    /// - Throws: `JournalError` of kind `.corrupt` if the next record cannot be trusted: the error names the
    ///   position, the seq and the remedy. Of kind `.misuse` if the records were trimmed or the journal was closed.
    public func records(after position: UInt64, bytesMax: Int) throws(JournalError) -> [Record] {
        let operation = "read the records after \(position)"
        let file = try readable(operation)
        if isReadOnly {
            try refresh()
        } else {
            try settle()
        }
        guard position < self.position else { return [] }
        guard position >= base.position else {
            throw .misuse(operation, "the records up to \(base.position) were trimmed")
        }
        var link = try link(before: position + 1)
        guard link.position <= position else { throw damaged(after: link, "two rows hold record \(position + 1)") }
        let first = link.position + 1
        // One array for all rows of the page: events are slices of it.
        var page: [UInt8] = []
        var rows: [(row: BatchRow, start: Int)] = []
        try file.forEachRow(from: first) { row, bytes throws(JournalError) in
            do throws(JournalError) {
                let checked = try check(row, after: link, bytes)
                rows.append((checked, page.count))
                if page.isEmpty { page.reserveCapacity(min(max(bytesMax, bytes.count), 4 << 20)) }
                page.append(copying: bytes)
                link = checked.link
            } catch {
                // What is before the damage is read first; the next page begins with it.
                if link.position <= position { throw error }
                return false
            }
            return page.count < bytesMax || link.position <= position
        }
        guard link.position > position else { throw damaged(after: link, "there is no record \(link.position + 1)") }
        lastRead = link
        return try decode(page, rows, after: position)
    }

    private func decode(
        _ page: [UInt8], _ rows: [(row: BatchRow, start: Int)], after position: UInt64
    ) throws(JournalError) -> [Record] {
        var records: [Record] = []
        var expected = 0
        for item in rows { expected += Int(clamping: item.row.lastPosition - item.row.firstPosition) + 1 }
        // A record has two bytes at least.
        records.reserveCapacity(min(expected, page.count / 2))
        for (row, start) in rows {
            let before = records.count
            do throws(WireError) {
                try Record.read(page[start..<start + Int(row.length)], into: &records)
            } catch {
                throw damaged(row, "\(error)")
            }
            guard UInt64(records.count - before) == row.lastPosition - row.firstPosition + 1 else {
                throw damaged(row, "it holds \(records.count - before) records")
            }
        }
        if let first = rows.first?.row.firstPosition, first <= position {
            records.removeFirst(Int(position - first + 1))
        }
        return records
    }

    /// The end of the row before the one that holds a position.
    private func link(before position: UInt64) throws(JournalError) -> ChainLink {
        if position == base.position + 1 { return base }
        if let lastRead, lastRead.position + 1 == position { return lastRead }
        let rows = try readable("be read").rows(through: position, max: 2)
        if rows.count == 2 {
            guard let row = rows[1] else {
                throw damaged(after: base, "a row before position \(position) has no numbers")
            }
            return row.link
        }
        return base
    }

    private func check(_ row: BatchRow?, after link: ChainLink, _ bytes: Span<UInt8>) throws(JournalError) -> BatchRow {
        guard let row else { throw damaged(after: link, "the row's numbers cannot be") }
        return try row.checked(after: link, bytes, loop: loop, path: path)
    }

    private func damaged(_ row: BatchRow, _ reason: String) -> JournalError {
        .damaged(loop: loop, path: path, position: row.firstPosition, seq: row.firstSeq, reason)
    }

    func damaged(after link: ChainLink, _ reason: String) -> JournalError {
        // Wrapping: where nothing is known of a row, its seq is the one that was asked for, which may be any.
        .damaged(loop: loop, path: path, position: link.position &+ 1, seq: link.seq &+ 1, reason)
    }

    /// The seq of the oldest event in the journal; nil if it has none.
    /// - Throws: `JournalError` if reading fails, if waiting records cannot be written, or if the journal was
    ///   closed.
    public func firstSeq() throws(JournalError) -> Seq? {
        let file = try readable("be read")
        if !isReadOnly { try settle() }
        return try file.number(
            "SELECT first_seq FROM batches WHERE last_seq >= first_seq ORDER BY first_position LIMIT 1"
        ).map { Seq(UInt64(bitPattern: $0)) }
    }

    /// The end of the row before the one that holds the event `seq`: the records after it begin with that event, or
    /// with one not far before it. A bisection finds it, because rows are in the order of both numbers.
    /// - Throws: `JournalError` of kind `.corrupt` if a row is missing; also if reading fails or the journal was
    ///   closed.
    public func position(before seq: Seq) throws(JournalError) -> UInt64 {
        let file = try readable("be read")
        if isReadOnly { try refresh() } else { try settle() }
        var low = base.position
        var high = tail.position
        // The row that holds `seq` begins behind `low`, and at most at `high` + 1.
        while low < high {
            let middle = low + (high - low + 1) / 2
            guard let row = try file.rows(through: middle, max: 1).first ?? nil, row.lastPosition > low,
                row.firstPosition > low
            else { throw damaged(after: ChainLink(position: low, seq: seq.value, checksum: 0), "a row is missing") }
            if row.lastSeq < seq.value {
                low = max(row.lastPosition, low)
            } else {
                high = row.firstPosition - 1
            }
        }
        return low
    }

    /// What the process that writes has appended since: for journals that were opened for reading.
    func refresh() throws(JournalError) {
        let file = try readable("be read")
        base = try file.base()
        tail = try file.tail(after: base)
        if try file.meta("ended") == 1 { hasEnded = true }
    }
}

extension BatchRow {
    /// The row, once it is known to be the one that was written behind `link`.
    func checked(after link: ChainLink, _ bytes: Span<UInt8>, loop: String, path: String) throws(JournalError)
        -> BatchRow
    {
        var fault: String?
        if firstPosition != link.position &+ 1 {
            fault = "the next record that is there is \(firstPosition)"
        } else if !follows(link) {
            fault = "the next seq that is there is \(firstSeq)"
        } else if length != UInt64(bytes.count) {
            fault = "\(bytes.count) bytes of \(length) are there"
        } else if sum(after: link, bytes) != checksum {
            fault = "the bytes are not those that were written (checksum)"
        }
        guard let fault else { return self }
        throw .damaged(loop: loop, path: path, position: link.position &+ 1, seq: link.seq &+ 1, fault)
    }
}

extension JournalError {
    /// What was written cannot be trusted from a position on.
    static func damaged(loop: String, path: String, position: UInt64, seq: UInt64, _ reason: String) -> JournalError {
        let kept = seq &- 1
        return JournalError(
            .corrupt, operation: "be read", reason: "at position \(position), seq \(seq): \(reason)",
            remedy: "put back a copy of \(path), or keep events 1 to \(kept) and begin a new history: "
                + "loop-reducer \(loop) trim --after \(kept) \(path)")
    }
}
