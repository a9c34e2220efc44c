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
            try checkEntry(record.number, of: record.session)
        case .refused(let record): try checkEntry(record.number, of: record.session)
        case .completed(let session, let number, _, _), .skipped(let session, let number):
            try checkEntry(number, of: session)
        case .attemptEnded(let end):
            if let entry = end.entry { try checkEntry(entry.number, of: entry.session) }
        case .sessionOpened(let session, _): try check(session.value, "session")
        case .epochBegun(let epoch, _): try check(epoch.number, "epoch")
        case .quarantined(let record):
            try checkEntry(record.number, of: record.session)
            try check(record.id, "quarantined event")
        case .sessionOwned, .sessionRetired, .definition, .stateHash, .stateMarked, .markHash, .operatorAction,
            .historyBegun, .scheduled:
            break
        }
    }

    /// The entries of a session are consumed in order, each once.
    private func checkEntry(_ number: UInt64, of session: SessionID) throws(RecordDoesNotFit) {
        try check(number, "entry")
        guard let watermark = sessions[session]?.watermark, number <= watermark,
            !brokenRules.contains(.duplicatesAreDropped)
        else { return }
        throw RecordDoesNotFit(reason: "entry \(number) of session \(session) follows its entry \(watermark)")
    }

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

    /// Whether each session of a snapshot has the outcomes of its entries in their order, and of none that was not consumed.
    var hasOrderedOutcomes: Bool {
        sessions.allSatisfy { _, session in
            let numbers = session.notable.map(\.number)
            return zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 } && numbers.last ?? 0 <= session.watermark
        }
    }
}
