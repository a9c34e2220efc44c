import LoopCore
import LoopWire

/// Numbers that no journal reaches. Whoever counts on from below them never overflows; a file that has larger ones was not
/// written by a reducer.
enum JournaledNumber {
    static var limit: UInt64 { 1 << 62 }

    static func isReachable(_ number: UInt64) -> Bool { number < limit }
}

extension JournaledCore {
    /// Refuses a record whose numbers cannot be, before anything is changed by it.
    func checkNumbers(of record: Record) throws(RecordDoesNotFit) {
        switch record {
        case .event(let record):
            // Not one more than before: an event that this definition cannot decode has left its seq out.
            guard record.seq > seq, JournaledNumber.isReachable(record.seq.value) else {
                throw RecordDoesNotFit(reason: "event \(record.seq) follows event \(seq)")
            }
            try checkEntry(record.number)
        case .refused(let record): try checkEntry(record.number)
        case .completed(_, let number, _, _), .skipped(_, let number): try checkEntry(number)
        case .attemptEnded(let end): try checkEntry(end.entry?.number ?? 0)
        case .sessionOpened(let session, _): try check(session.value, "session")
        case .epochBegun(let epoch, _): try check(epoch.number, "epoch")
        case .quarantined(let record):
            try checkEntry(record.number)
            try check(record.id, "quarantined event")
        case .sessionOwned, .sessionRetired, .definition, .stateHash, .stateMarked, .markHash, .operatorAction,
            .historyBegun, .scheduled:
            break
        }
    }

    private func checkEntry(_ number: UInt64) throws(RecordDoesNotFit) { try check(number, "entry") }

    private func check(_ number: UInt64, _ what: String) throws(RecordDoesNotFit) {
        guard JournaledNumber.isReachable(number) else {
            throw RecordDoesNotFit(reason: "there is no \(what) \(number): numbers are below \(JournaledNumber.limit)")
        }
    }

    /// Whether what was read of a snapshot can be counted on from.
    var hasReachableNumbers: Bool {
        JournaledNumber.isReachable(max(position, seq.value, nextSession.value, quarantinedCount))
            && epochs.allSatisfy { JournaledNumber.isReachable($0.number) }
            && sessions.allSatisfy { JournaledNumber.isReachable(max($0.key.value, $0.value.watermark)) }
    }
}
