package import LoopCore
package import LoopWire

extension HistoryPage {
    /// The largest number of records in a page, and about how many bytes of them.
    private static var recordsMax: Int { 2000 }
    private static var bytesMax: Int { 256 << 10 }

    /// Reads a page of a journal.
    /// - Parameters:
    ///   - journal: the journal to read.
    ///   - from: the seq with which the first page begins. For a later page, the seq that the page before had reached.
    ///   - through: the last seq that is shown, with what follows it until the next event, or nil for all.
    ///   - after: the position at which the page before ended, or nil for the first page.
    /// - Throws: `JournalError` if the journal cannot be read. It is of kind `.trimmed` if the records after `after` were trimmed,
    ///   or if the event `from` was, unless the page is of all events. It is of kind `.misuse` if the journal ends before `from`.
    package init(
        of journal: any Journal, from: Seq, through: Seq? = nil, after: UInt64? = nil
    ) throws(JournalError) {
        self.init(records: [], next: nil)
        var position: UInt64
        if let after {
            position = after
        } else {
            position = try Self.begin(journal, from, through)
        }
        // If the page begins before the first wanted event, the seqs of the records before it are not known.
        var seq = after == nil ? Seq.initial : from
        while records.count < Self.recordsMax {
            let page = try journal.records(after: position, bytesMax: Self.bytesMax)
            if page.isEmpty { return }
            for record in page {
                position += 1
                if case .event(let event) = record {
                    if let through, event.seq > through { return }
                    seq = event.seq
                }
                if after == nil && seq < from && from > Seq(1) { continue }
                records.append(HistoryRecord(record, position: position, seq: seq))
                if records.count == Self.recordsMax {
                    next = position
                    return
                }
            }
        }
    }
}

extension HistoryPage {
    /// The position before the first record to read. What comes before the first event is shown with it, unless it was trimmed.
    private static func begin(_ journal: any Journal, _ from: Seq, _ through: Seq?) throws(JournalError) -> UInt64 {
        let first = try journal.firstSeq() ?? Seq(1)
        if first > Seq(1), from < first, from > Seq(1) || (through ?? first) < first {
            throw JournalError(
                .trimmed, operation: "show the records from seq \(from) on",
                reason: "the events before seq \(first) were trimmed", remedy: "begin with seq \(first)")
        }
        if from <= Seq(1), try journal.hasFirstRecord() { return 0 }
        let newest = try journal.newestSeq()
        if from > max(newest, Seq(1)) { throw .afterNewest(newest, "show the records from seq \(from) on") }
        return try journal.position(before: from)
    }
}

extension HistoryRecord {
    /// - Parameters:
    ///   - record: the record to show.
    ///   - position: the position of the record.
    ///   - seq: the seq of the newest event at or before it.
    package init(_ record: Record, position: UInt64, seq: Seq) {
        self.init(position: position, seq: seq.value, kind: record.kind)
        switch record {
        case .event(let record):
            time = record.time.milliseconds
            name(record.session, record.number, record.effect, record.attempt)
            event = Array(record.bytes)
            if let run = record.run {
                note = "schedule \(run.schedule)" + (run.isByHand ? ", by hand" : ", due \(run.due.civilText)")
            }
        case .refused(let record):
            name(record.session, record.number, record.effect, record.attempt)
            note = record.detail.isEmpty ? "\(record.reason)" : "\(record.reason): \(record.detail)"
        case .completed(let session, let number, let effect, let attempt):
            name(session, number, effect, attempt)
        case .skipped(let session, let number):
            name(session, number, nil, .none)
        case .granted(let grants):
            name(.none, 0, grants.effects.first, grants.first)
            let others = grants.effects.dropFirst()
            if !others.isEmpty {
                note = "and " + others.prefix(8).map(\.description).joined(separator: ", ")
                if others.count > 8 { note? += ", and \(others.count - 8) more" }
            }
        case .attemptEnded(let end):
            name(end.entry?.session ?? .none, end.entry?.number ?? 0, end.effect, end.upTo)
            note = end.text
            if case .retry(let retry) = end.next { retryAt = retry.notBefore.milliseconds }
        case .sessionOpened(let session, let peer):
            self.session = session.value
            note = "peer \(peer)"
        case .sessionOwned(let session, let owner):
            self.session = session.value
            note = "key \(owner)"
        case .sessionRetired(let session):
            self.session = session.value
        case .epochBegun(let epoch, let time):
            self.time = time.milliseconds
            note = "epoch \(epoch)"
        case .definition(let record):
            note =
                "schema \(record.schema), fingerprint \(hexadecimal(record.fingerprint)), feedbacks "
                + record.feedbacks.joined(separator: ", ")
        case .stateHash(_, let hash):
            note = hexadecimal(hash)
        case .stateMarked: break
        case .markHash(let seq, let hash):
            note = "\(hexadecimal(hash)) of seq \(seq)"
        case .quarantined(let record):
            time = record.time.milliseconds
            name(record.session, record.number, record.effect, record.attempt)
            note = "number \(record.id): ended the process \(record.crashes) times in \(record.phase)"
            event = Array(record.bytes)
        case .operatorAction(let action):
            time = action.time.milliseconds
            note = "\(action.who): \(action.what.text)"
        case .historyBegun(let history, let time):
            self.time = time.milliseconds
            note = "history \(history)"
        case .scheduled(let record):
            time = record.time.milliseconds
            note = "schedule \(record.schedule), next \(record.next.civilText)"
        }
    }

    private mutating func name(_ session: SessionID, _ number: UInt64, _ effect: EffectID?, _ attempt: Attempt) {
        if session != .none {
            self.session = session.value
            self.number = number
        }
        guard let effect else { return }
        self.effect = effect.description
        if attempt != .none { self.attempt = attempt.description }
    }
}

extension Record {
    /// The kind of the record, as it is shown.
    var kind: String {
        switch self {
        case .event(let event):
            event.isOfTimer
                ? "timer fired" : event.isOfTimeout ? "timed out for good" : event.run == nil ? "event" : "schedule ran"
        case .scheduled: "scheduled"
        case .refused: "refused"
        case .completed: "completed"
        case .skipped: "skipped"
        case .granted: "granted"
        case .attemptEnded: "attempt ended"
        case .sessionOpened: "session opened"
        case .sessionOwned: "session owned"
        case .sessionRetired: "session retired"
        case .epochBegun: "epoch begun"
        case .definition: "definition"
        case .stateHash: "state hash"
        case .stateMarked: "state marked"
        case .markHash: "mark hash"
        case .quarantined: "quarantined"
        case .operatorAction: "operator action"
        case .historyBegun: "history begun"
        }
    }
}

extension AttemptEnd {
    fileprivate var text: String {
        let what =
            switch next {
            case .retry: "\(cause), tried again"
            case .parked: "\(cause), parked"
            }
        return message.isEmpty ? what : "\(what): \(message)"
    }
}

extension OperatorAction.What {
    fileprivate var text: String {
        switch self {
        case .retryParked(let effect): "runs the parked effect \(effect) again"
        case .retryQuarantined(let id): "applies the quarantined event \(id) after all"
        case .dropQuarantined(let id): "drops the quarantined event \(id)"
        case .pauseSchedule(let number): "pauses the schedule \(number)"
        case .resumeSchedule(let number): "resumes the schedule \(number)"
        case .runSchedule(let number): "runs the schedule \(number)"
        case .acceptClock: "takes the clock for right"
        }
    }
}
