package import LoopCore
package import LoopKeys
package import LoopWire

extension EventOrigin {
    /// Finds out where an event came from.
    /// - Parameters:
    ///   - seq: the seq of the event.
    ///   - journal: the journal to read.
    ///   - feedbacks: the names of the loop's feedbacks, by number.
    ///   - keys: the keys that are admitted now. A key that is not admitted any more is shown itself, because it has no name.
    /// - Throws: `JournalError` of kind `.misuse` if there is no such event, of kind `.trimmed` if it was trimmed, or another one if
    ///   the journal cannot be read.
    package init(
        of seq: Seq, in journal: any Journal, feedbacks: [String], keys: AllowedKeys
    ) throws(JournalError) {
        let operation = "find the sender of event \(seq)"
        guard seq > .initial else {
            throw JournalError(
                .misuse, operation: operation, reason: "no event made the initial state", remedy: "give a seq from 1 on"
            )
        }
        let newest = try journal.newestSeq()
        guard seq <= newest else { throw .afterNewest(newest, operation) }
        guard let (record, position) = try Self.event(seq, in: journal) else {
            throw JournalError(
                .trimmed, operation: operation, reason: "the event was trimmed", remedy: "ask for a later one")
        }
        self.init(event: HistoryRecord(.event(record), position: position, seq: seq))
        if record.session != .none { try findSender(record.session, before: position, in: journal, keys) }
        guard let effect = record.effect else { return }
        let number = Int(effect.feedback)
        feedback = number < feedbacks.count ? feedbacks[number] : "\(number)"
        guard effect.seq > .initial, let (cause, position) = try Self.event(effect.seq, in: journal) else { return }
        self.cause = HistoryRecord(.event(cause), position: position, seq: effect.seq)
    }

    /// The record of an event, and its position. Nil if it was trimmed.
    private static func event(
        _ seq: Seq, in journal: any Journal
    ) throws(JournalError) -> (record: EventRecord, position: UInt64)? {
        guard let first = try journal.firstSeq(), first <= seq else { return nil }
        var position = try journal.position(before: seq)
        while true {
            let page = try journal.records(after: position, bytesMax: 1 << 16)
            if page.isEmpty { return nil }
            for record in page {
                position += 1
                guard case .event(let event) = record, event.seq >= seq else { continue }
                return event.seq == seq ? (event, position) : nil
            }
        }
    }

    /// Finds the newest records before a position that say whose a session is. It reads backwards, because most sessions are short.
    private mutating func findSender(
        _ session: SessionID, before position: UInt64, in journal: any Journal, _ keys: AllowedKeys
    ) throws(JournalError) {
        _ = try journal.forEachWindow(before: position) { start, end throws(JournalError) in
            try journal.forEachRecord(after: start, through: end) { record, _ in
                switch record {
                case .sessionOpened(session, let peer): self.peer = "\(peer)"
                case .sessionOwned(session, let owner): key = keys[owner]?.name ?? "\(owner)"
                default: break
                }
            }
            return peer == nil
        }
    }
}
