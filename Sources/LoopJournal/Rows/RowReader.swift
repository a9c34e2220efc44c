import CBOR
internal import Linux
package import LoopCluster
package import LoopCore

/// The storage of a journal's rows: a file, or a database.
package protocol BatchRows {
    /// The newest rows that begin at or before a position, the newest first, without their records. A row with impossible numbers
    /// is nil.
    func rows(through position: UInt64, max: Int) throws(JournalError) -> [BatchRow?]

    /// Calls `body` with the rows from a position on, in order, until it returns false.
    /// - Parameter bytesMax: about how many bytes of records `body` is likely to use.
    func forEachRow(
        from position: UInt64, bytesMax: Int, _ body: (BatchRow?, Span<UInt8>) throws(JournalError) -> Bool
    ) throws(JournalError)
}

/// Reads the records of a journal out of its rows, and checks each row that it reads.
package struct RowReader: Sendable {
    /// The loop, and the location of its journal, for errors.
    package let loop, place: String
    /// The end of the trimmed rows. The present rows begin after it.
    package var base: ChainLink
    /// The end of the newest row.
    package var tail: ChainLink
    /// Whether a trim reads all rows before the newest snapshot to look for damage. That takes long, and a reducer's peers would
    /// wait.
    package var looksForDamage = true
    /// The end of the page that was read last. The next page most likely begins there.
    private var lastRead: ChainLink?

    package init(loop: String, place: String, base: ChainLink, tail: ChainLink) {
        self.loop = loop
        self.place = place
        self.base = base
        self.tail = tail
    }

    /// A page of the records after a position, in order. Empty at the end.
    /// - Parameters:
    ///   - position: the last position that is not wanted.
    ///   - bytesMax: about how many bytes of records to read. At least one row is read.
    /// - Throws: `JournalError` of kind `.corrupt` if the next record cannot be trusted, of kind `.trimmed` if it was trimmed.
    package mutating func records(
        after position: UInt64, bytesMax: Int, in source: some BatchRows
    ) throws(JournalError) -> [Record] {
        guard position < tail.position else { return [] }
        guard position >= base.position else {
            throw JournalError(
                .trimmed, "read the records after \(position)", "the records up to \(base.position) were trimmed")
        }
        var link = try link(before: position + 1, in: source)
        guard link.position <= position else { throw damaged(after: link, "two rows hold record \(position + 1)") }
        let first = link.position + 1
        // One array has all rows of the page, because events are slices of it.
        var page: [UInt8] = []
        var rows: [(row: BatchRow, start: Int)] = []
        try source.forEachRow(from: first, bytesMax: bytesMax) { row, bytes throws(JournalError) in
            do throws(JournalError) {
                let checked = try checked(row, after: link, bytes)
                rows.append((checked, page.count))
                if page.isEmpty { page.reserveCapacity(min(max(bytesMax, bytes.count), 4 << 20)) }
                page.append(copying: bytes)
                link = checked.link
            } catch {
                // The rows before the damage are returned first. The next page begins with the damage.
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
        // A record has at least two bytes.
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

    /// The end of the row before the one that contains a position.
    private func link(before position: UInt64, in source: some BatchRows) throws(JournalError) -> ChainLink {
        if position == base.position + 1 { return base }
        if let lastRead, lastRead.position + 1 == position { return lastRead }
        let rows = try source.rows(through: position, max: 2)
        if rows.count == 2 {
            guard let row = rows[1] else {
                throw damaged(after: base, "a row before position \(position) has no numbers")
            }
            return row.link
        }
        return base
    }

    // MARK: Following

    /// The present end of the row whose last record has this position, or nil if no row ends there.
    package func end(ofRowAt position: UInt64, in source: some BatchRows) throws(JournalError) -> RowEnd? {
        if position == base.position { return RowEnd(base) }
        if position == tail.position { return RowEnd(tail) }
        guard position > base.position, position < tail.position,
            let row = try source.rows(through: position, max: 1).first ?? nil, row.lastPosition == position
        else { return nil }
        return RowEnd(row.link)
    }

    /// The records behind those that a reader has, or nil if the row at which the reader is does not exist.
    ///
    /// The checksum of the next row covers that of the row before. So pages that are read one after the other need no more checks.
    package mutating func page(
        after position: UInt64, checksum: UInt32?, bytesMax: Int, in source: some BatchRows
    ) throws(JournalError) -> FollowedPage? {
        guard position >= base.position, position <= tail.position else { return nil }
        let newest = tail.position
        if let checksum {
            let expected = RowEnd(position: position, checksum: checksum)
            let isLastRead = position < newest && lastRead.map(RowEnd.init) == expected
            if !isLastRead, try end(ofRowAt: position, in: source)?.checksum != checksum { return nil }
        }
        guard position < newest else { return FollowedPage(records: [], end: nil, newest: newest) }
        do throws(JournalError) {
            let records = try records(after: position, bytesMax: bytesMax, in: source)
            return FollowedPage(records: records, end: lastRead.map(RowEnd.init), newest: newest)
        } catch {
            guard error.kind == .corrupt, let checksum,
                try end(ofRowAt: position, in: source)?.checksum != checksum
            else { throw error }
            return nil
        }
    }

    // MARK: Positions

    /// The end of the row before the one with the event `seq`. The records after it begin with that event, or
    /// with one not far before it. A bisection finds it, because rows are in the order of both numbers.
    /// - Throws: `JournalError` of kind `.corrupt` if a row is missing.
    package func position(before seq: Seq, in source: some BatchRows) throws(JournalError) -> UInt64 {
        var low = base.position
        var high = tail.position
        // The row with `seq` begins behind `low`, and at `high` + 1 at the latest.
        while low < high {
            let middle = low + (high - low + 1) / 2
            guard let row = try source.rows(through: middle, max: 1).first ?? nil, row.lastPosition > low,
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

    /// Finds the snapshot at which the rows below a seq may be cut off. Every later state can be shown from it. The newest snapshot
    /// does not count, because it may turn out to be damaged. It counts if ``looksForDamage`` is true and the rows before it are
    /// damaged.
    /// - Parameters:
    ///   - snapshots: the snapshots, the newest first.
    ///   - isIntact: reads a snapshot and checks it.
    /// - Returns: the snapshot and the end of the last row that it covers, or nil if there is none below the seq.
    /// - Throws: `JournalError` if a row cannot be read. Also what `isIntact` throws.
    package func cut(
        before seq: Seq, snapshots: [SnapshotEntry], isIntact: (SnapshotEntry) throws(JournalError) -> Bool,
        in source: some BatchRows
    ) throws(JournalError) -> (snapshot: SnapshotEntry, end: ChainLink)? {
        var intact: [SnapshotEntry] = []
        for snapshot in snapshots where intact.isEmpty || intact.count == 1 && snapshot.seq < seq {
            if try isIntact(snapshot) { intact.append(snapshot) }
        }
        guard let newest = intact.first else { return nil }
        var found: (snapshot: SnapshotEntry, end: ChainLink)?
        if intact.count > 1 {
            let older = intact[1]
            found = try end(of: older, in: source).map { (older, $0) }
        }
        guard looksForDamage, newest.seq < seq,
            try !isWhole(after: found?.end ?? base, through: newest.position, in: source)
        else {
            return found
        }
        return try end(of: newest, in: source).map { (newest, $0) }
    }

    /// The end of the last row that a snapshot covers, or nil if it covers no present row.
    private func end(of snapshot: SnapshotEntry, in source: some BatchRows) throws(JournalError) -> ChainLink? {
        var limit = snapshot.position
        while limit > base.position {
            guard let row = try source.rows(through: limit, max: 1).first ?? nil, row.firstPosition > base.position
            else { return nil }
            if row.lastPosition <= limit { return row.link }
            limit = row.firstPosition - 1
        }
        return nil
    }

    private func isWhole(
        after start: ChainLink, through position: UInt64, in source: some BatchRows
    ) throws(JournalError) -> Bool {
        var link = start
        do throws(JournalError) {
            try source.forEachRow(from: link.position + 1, bytesMax: 1 << 20) { row, bytes throws(JournalError) in
                link = try checked(row, after: link, bytes).link
                return link.position < position
            }
        } catch {
            guard error.kind == .corrupt else { throw error }
            return false
        }
        return link.position >= position
    }

    /// Gives an error about damaged rows the remedy that keeps what a start recovers. If an intact snapshot covers the rows, only
    /// the rows before it need to go.
    /// - Parameters:
    ///   - snapshots: the snapshots, the newest first.
    ///   - isIntact: reads a snapshot and checks it.
    package func advised(
        _ error: JournalError, snapshots: [SnapshotEntry], isIntact: (SnapshotEntry) -> Bool, in source: some BatchRows
    ) -> JournalError {
        guard error.kind == .corrupt, let newest = snapshots.first(where: isIntact) else { return error }
        let next = damage(after: newest.position, in: source)
        // The snapshot does not cover the damage.
        if next == error { return error }
        var advised = error
        advised.remedy =
            next.map { "a start from the snapshot at seq \(newest.seq) fails, too (\($0.reason)); " }
            ?? "a start continues from the snapshot at seq \(newest.seq), and only states before it cannot be rebuilt; "
        advised.remedy += "put a copy of the journal back"
        // A page that SQLite cannot read cannot be removed either.
        if error.remedy != JournalError.Kind.corrupt.remedy {
            advised.remedy +=
                ", or forget what is before the snapshot: "
                + "loop-reducer \(loop.shellWord) trim --before \(newest.seq.value &+ 1) \(place.shellWord)"
        }
        return advised
    }

    /// The error of reading the records after a position, or nil if all can be read.
    private func damage(after position: UInt64, in source: some BatchRows) -> JournalError? {
        var (reader, position) = (self, position)
        do throws(JournalError) {
            while position < tail.position {
                position += UInt64(try reader.records(after: position, bytesMax: 1 << 20, in: source).count)
            }
            return nil
        } catch {
            return error
        }
    }

    /// Passes every row to `body`, in order. Checks each row, and that none is missing at the end.
    package func forEachRow(
        in source: some BatchRows, _ body: (BatchRow, Span<UInt8>) throws(JournalError) -> Void
    ) throws(JournalError) {
        var link = base
        try source.forEachRow(from: base.position + 1, bytesMax: 1 << 20) { row, bytes throws(JournalError) in
            let row = try checked(row, after: link, bytes)
            try body(row, bytes)
            link = row.link
            return true
        }
        guard link == tail else {
            throw damaged(after: link, "the records up to \(tail.position) were there and are not")
        }
    }

    // MARK: Checks

    package func checked(
        _ row: BatchRow?, after link: ChainLink, _ bytes: Span<UInt8>
    ) throws(JournalError) -> BatchRow {
        guard let row else { throw damaged(after: link, "the row's numbers cannot be") }
        return try row.checked(after: link, bytes, loop: loop, path: place)
    }

    package func damaged(_ row: BatchRow, _ reason: String) -> JournalError {
        .damaged(loop: loop, path: place, position: row.firstPosition, seq: row.firstSeq, reason)
    }

    package func damaged(after link: ChainLink, _ reason: String) -> JournalError {
        // The sums wrap: if nothing is known of a row, its seq is the requested one, which may be any number.
        .damaged(loop: loop, path: place, position: link.position &+ 1, seq: link.seq &+ 1, reason)
    }
}

extension BatchRow {
    /// Returns the row if it is the one that was written behind `link`. Throws otherwise.
    package func checked(
        after link: ChainLink, _ bytes: Span<UInt8>, loop: String, path: String
    ) throws(JournalError) -> BatchRow {
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
    /// The error that the journal cannot be trusted from a position on.
    package static func damaged(
        loop: String, path: String, position: UInt64, seq: UInt64, _ reason: String
    ) -> JournalError {
        let kept = seq &- 1
        return JournalError(
            .corrupt, operation: "be read", reason: "at position \(position), seq \(seq): \(reason)",
            remedy: HistoryLost.remedy(loop: loop, seq: kept, place: path.shellWord))
    }

    /// The error of an operation after one that has failed.
    package static func afterwards(_ operation: String, _ failure: JournalError) -> JournalError {
        JournalError(
            failure.kind, operation: operation,
            reason: "it could not \(failure.operation) before (\(failure.reason)), and nothing behind that is safe",
            remedy: failure.remedy, fault: failure.fault)
    }

    package static func misuse(_ operation: String, _ reason: String) -> JournalError {
        JournalError(.misuse, operation, reason)
    }
}

extension RowEnd {
    package init(_ link: ChainLink) { self.init(position: link.position, checksum: link.checksum) }
}
