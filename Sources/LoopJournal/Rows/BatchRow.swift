package import LoopCluster
internal import LoopCore

/// The end of a row, to which the next row is tied: its last position, its newest seq and its checksum.
package struct ChainLink: Equatable, Sendable {
    package var position: UInt64
    package var seq: UInt64
    package var checksum: UInt32

    /// The end before the first row of a journal that was never trimmed.
    package static let start = ChainLink(position: 0, seq: 0, checksum: 0)

    package init(position: UInt64, seq: UInt64, checksum: UInt32) {
        self.position = position
        self.seq = seq
        self.checksum = checksum
    }

    /// The end of the trimmed rows as it was read, or nil if a number is impossible.
    package init?(trimmedTo position: Int64, seq: Int64, checksum: Int64) {
        guard let position = UInt64(exactly: position), let seq = UInt64(exactly: seq),
            let checksum = UInt32(exactly: checksum), seq <= position, position < BatchRow.numbersMax
        else { return nil }
        self.init(position: position, seq: seq, checksum: checksum)
    }
}

/// The numbers of a row of `batches`: one append, or several that were written together.
///
/// The checksum covers the checksum of the row before, these numbers and the records, in the order of the fields here. So the
/// checks notice a changed, a missing, a doubled and a swapped row.
package struct BatchRow: Equatable, Sendable {
    package var firstPosition: UInt64
    package var lastPosition: UInt64
    /// The seq after the newest event before the row. It is that of the row's first event, if the row has one.
    package var firstSeq: UInt64
    /// The seq of the newest event in the row or before it.
    package var lastSeq: UInt64
    /// The size of the records in bytes.
    package var length: UInt64
    package var checksum: UInt32

    /// Creates the row of these records behind another row.
    package init(after link: ChainLink, count: UInt64, lastSeq: UInt64, records: Span<UInt8>) {
        firstPosition = link.position + 1
        lastPosition = link.position + count
        firstSeq = link.seq + 1
        self.lastSeq = lastSeq
        length = UInt64(records.count)
        checksum = 0
        checksum = sum(after: link, records)
    }

    /// A row as it was read, or nil if a number is impossible.
    package init?(first: Int64, last: Int64, firstSeq: Int64, lastSeq: Int64, length: Int64, checksum: Int64) {
        guard let firstPosition = UInt64(exactly: first), let lastPosition = UInt64(exactly: last),
            let firstSeq = UInt64(exactly: firstSeq), let lastSeq = UInt64(exactly: lastSeq),
            let length = UInt64(exactly: length), let checksum = UInt32(exactly: checksum),
            max(lastPosition, lastSeq) < Self.numbersMax, firstPosition > 0, firstSeq > 0,
            lastPosition >= firstPosition, lastSeq >= firstSeq - 1,
            // Each event is a record.
            lastSeq - (firstSeq - 1) <= lastPosition - firstPosition + 1
        else { return nil }
        self.firstPosition = firstPosition
        self.lastPosition = lastPosition
        self.firstSeq = firstSeq
        self.lastSeq = lastSeq
        self.length = length
        self.checksum = checksum
    }

    /// The limit of positions and seqs. No journal reaches it, and sums below it do not overflow.
    package static var numbersMax: UInt64 { 1 << 62 }

    package var link: ChainLink { ChainLink(position: lastPosition, seq: lastSeq, checksum: checksum) }

    /// Whether its numbers continue those of another row.
    func follows(_ link: ChainLink) -> Bool {
        firstPosition == link.position &+ 1 && firstSeq == link.seq &+ 1
    }

    /// The checksum that the row has if nothing was changed.
    package func sum(after link: ChainLink, _ records: Span<UInt8>) -> UInt32 {
        var sum = Checksum()
        sum.add(link.checksum)
        sum.add(firstPosition)
        sum.add(lastPosition)
        sum.add(firstSeq)
        sum.add(lastSeq)
        sum.add(length)
        sum.add(records)
        return sum.value
    }
}

extension RecordLog {
    /// Returns the seq of the newest event. Throws unless the events continue the earlier ones without a gap.
    /// - Parameter newest: the seq of the newest earlier event.
    package func newestSeq(after newest: UInt64, _ operation: String) throws(JournalError) -> UInt64 {
        guard let seqs else { return newest }
        // The seqs are ascending, so their number must be that from the first to the last.
        let (first, last) = (seqs.lowerBound.value, seqs.upperBound.value)
        guard first == newest &+ 1, last - first == eventsCount - 1 else {
            let events = first == last ? "event \(first) follows" : "events \(first) to \(last) follow"
            throw .misuse(operation, "\(events) event \(newest)")
        }
        return last
    }
}
