package import LoopCore
package import LoopWire

extension HistoryPage {
    /// How many records are searched for one page.
    private static var searchedMax: UInt64 { 65_536 }

    /// Reads what a filter selects, the newest first. It reads the journal backwards, a window of records at a time.
    /// - Parameters:
    ///   - journal: the journal to read.
    ///   - from: the first seq that is shown.
    ///   - through: the last seq that is shown, with what follows it until the next event, or nil for all.
    ///   - before: the position before which the search goes on, or nil for the first page.
    ///   - filter: what is selected.
    /// - Throws: `JournalError` if the journal cannot be read. Records that were trimmed are the end of the history.
    package init(
        of journal: any Journal, from: Seq, through: Seq?, before: UInt64?, matching filter: HistoryFilter
    ) throws(JournalError) {
        self.init(records: [], next: nil)
        let limit = min(through ?? Seq(.max), try journal.newestSeq())
        let end: UInt64
        do throws(JournalError) {
            // A peer chooses `before`, and there is nothing to search behind the newest record.
            if let before {
                end = min(before - min(before, 1), journal.position)
            } else {
                end = try Self.end(of: journal, limit)
            }
        } catch {
            guard error.kind == .trimmed else { throw error }
            return
        }
        let last = end - min(end, Self.searchedMax)
        let countMax = min(max(filter.max, 1), 2000)
        var seq = limit.value
        let rest = try journal.forEachWindow(before: end, downTo: last) { start, end throws(JournalError) in
            let window = try Self.records(of: journal, from: start, to: end, seq)
            for record in window.reversed() {
                if record.seq < from.value { return false }
                if let through, record.seq > through.value { continue }
                guard filter.selects(record) else { continue }
                records.append(record)
                if records.count == countMax {
                    next = record.position > 1 ? record.position : nil
                    return false
                }
            }
            if let first = window.first { seq = first.kind == "event" ? first.seq - 1 : first.seq }
            return true
        }
        if let rest, rest > 0 { next = rest + 1 }
    }

    /// The position of the last record that belongs to a seq.
    private static func end(of journal: any Journal, _ seq: Seq) throws(JournalError) -> UInt64 {
        var end = seq > .initial ? try journal.position(before: seq) : 0
        while true {
            let page = try journal.records(after: end, bytesMax: 1 << 20)
            if page.isEmpty { return end }
            for record in page {
                if case .event(let event) = record, event.seq > seq { return end }
                end += 1
            }
        }
    }

    /// The records after one position up to another.
    /// - Parameter last: the seq of the newest event up to the second position.
    private static func records(
        of journal: any Journal, from start: UInt64, to end: UInt64, _ last: UInt64
    ) throws(JournalError) -> [HistoryRecord] {
        var records: [HistoryRecord] = []
        var seq: Seq?
        try journal.forEachRecord(after: start, through: end) { record, position in
            if case .event(let event) = record {
                // Seqs have no gaps, so the event before the window has the one before.
                if seq == nil { for index in records.indices { records[index].seq = event.seq.value - 1 } }
                seq = event.seq
            }
            records.append(HistoryRecord(record, position: position, seq: seq ?? Seq(last)))
        }
        return records
    }
}
