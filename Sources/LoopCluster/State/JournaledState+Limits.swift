import LoopCore
import LoopWire

/// The limit of numbers in a journal, which no journal reaches. Counting on from below it never overflows. A file with larger
/// numbers was not written by a reducer.
enum JournaledNumber {
    static var limit: UInt64 { 1 << 62 }

    static func isReachable(_ number: UInt64) -> Bool { number < limit }
}

extension JournaledState {
    /// Refuses a record with impossible numbers, before it changes anything.
    func checkNumbers(of record: Record) throws(RecordDoesNotFit) {
        switch record {
        case .event(let record):
            // The seq may leave a gap, because an event that this definition cannot decode was skipped.
            guard record.seq > seq, JournaledNumber.isReachable(record.seq.value) else {
                throw RecordDoesNotFit(reason: "event \(record.seq) follows event \(seq)")
            }
            try checkEntry(record.number, of: record.session)
        case .refused(let record): try checkEntry(record.number, of: record.session)
        case .completed(let session, let number, _, _), .skipped(let session, let number):
            try checkEntry(number, of: session)
        case .granted(let grants):
            try check(grants.first.epoch, "epoch")
            try check(grants.first.count, "attempt")
        case .attemptEnded(let end):
            if let entry = end.entry { try checkEntry(entry.number, of: entry.session) }
        case .sessionOpened(let session, _):
            let isNew = session >= nextSession || brokenRules.contains(.sessionNumbersGrow)
            try check(session.value, "session", isNew: isNew)
        case .epochBegun(let epoch, _):
            try check(epoch.number, "epoch", isNew: epoch.number > self.epoch.number)
        case .quarantined(let record):
            try checkEntry(record.number, of: record.session)
            try check(record.id, "quarantined event", isNew: record.id > quarantinedCount)
        case .sessionOwned, .sessionRetired, .definition, .stateHash, .stateMarked, .markHash, .operatorAction,
            .historyBegun, .scheduled:
            break
        }
    }

    /// Checks that the entries of a session are consumed in order, each once.
    private func checkEntry(_ number: UInt64, of session: SessionID) throws(RecordDoesNotFit) {
        try check(number, "entry")
        guard let watermark = sessions[session]?.watermark, number <= watermark,
            !brokenRules.contains(.duplicatesAreDropped)
        else { return }
        throw RecordDoesNotFit(reason: "entry \(number) of session \(session) follows its entry \(watermark)")
    }

    /// - Parameter isNew: whether the number is larger than those that were assigned before.
    private func check(_ number: UInt64, _ what: String, isNew: Bool = true) throws(RecordDoesNotFit) {
        guard JournaledNumber.isReachable(number) else {
            throw RecordDoesNotFit(reason: "there is no \(what) \(number): numbers are below \(JournaledNumber.limit)")
        }
        guard isNew else {
            throw RecordDoesNotFit(reason: "\(what) \(number) is not new: its number was given out before")
        }
    }

    /// Whether the numbers of a snapshot are below the limit.
    var hasReachableNumbers: Bool {
        JournaledNumber.isReachable(max(position, seq.value, nextSession.value, quarantinedCount))
            && epochs.allSatisfy { JournaledNumber.isReachable($0.number) }
            && sessions.allSatisfy { JournaledNumber.isReachable(max($0.key.value, $0.value.watermark)) }
    }

    /// Whether the numbers of a snapshot were all assigned, in ascending order.
    var hasGivenNumbers: Bool {
        zip(epochs, epochs.dropFirst()).allSatisfy { $0.number < $1.number }
            && nextSession > .none && sessions.allSatisfy { $0.key > .none && $0.key < nextSession }
            && quarantine.keys.allSatisfy { $0 <= quarantinedCount }
    }

    /// Whether each session of a snapshot has the outcomes of its entries in order, and only of consumed ones.
    var hasOrderedOutcomes: Bool {
        sessions.allSatisfy { _, session in
            let numbers = session.notable.map(\.number)
            return zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 } && numbers.last ?? 0 <= session.watermark
        }
    }
}
