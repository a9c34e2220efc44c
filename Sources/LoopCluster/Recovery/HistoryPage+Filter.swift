package import LoopCore
package import LoopWire

extension HistoryPage {
    /// How many records are searched for one page, and how many at a time.
    private static var searchedMax: UInt64 { 65_536 }
    private static var windowRecords: UInt64 { 4096 }

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
        var end: UInt64
        do throws(JournalError) {
            if let before { end = before - min(before, 1) } else { end = try Self.end(of: journal, limit) }
        } catch {
            guard error.kind == .trimmed else { throw error }
            return
        }
        let last = end - min(end, Self.searchedMax)
        let countMax = min(max(filter.max, 1), 2000)
        var (count, seq) = (Self.windowRecords, limit.value)
        while end > last {
            let start = end - min(end, count)
            let window: [HistoryRecord]
            do throws(JournalError) {
                window = try Self.records(of: journal, from: start, to: end, seq)
            } catch {
                // The window begins before the oldest record that is left.
                guard error.kind == .trimmed else { throw error }
                guard count > 1 else { return }
                count /= 2
                continue
            }
            for record in window.reversed() {
                if record.seq < from.value { return }
                if let through, record.seq > through.value { continue }
                guard filter.selects(record) else { continue }
                records.append(record)
                if records.count == countMax {
                    next = record.position > 1 ? record.position : nil
                    return
                }
            }
            if let first = window.first { seq = first.kind == "event" ? first.seq - 1 : first.seq }
            end = start
        }
        next = end > 0 ? end + 1 : nil
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
        var position = start
        var seq: Seq?
        while position < end {
            let page = try journal.records(after: position, bytesMax: 1 << 20)
            if page.isEmpty { break }
            for record in page.prefix(Int(end - position)) {
                position += 1
                if case .event(let event) = record {
                    // Seqs have no gaps, so the event before the window has the one before.
                    if seq == nil { for index in records.indices { records[index].seq = event.seq.value - 1 } }
                    seq = event.seq
                }
                records.append(HistoryRecord(record, position: position, seq: seq ?? Seq(last)))
            }
        }
        return records
    }
}
