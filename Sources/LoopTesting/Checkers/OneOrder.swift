import LoopCluster
import LoopCore
import LoopWire

/// G1: events are numbered without gaps, and each session's entries are consumed strictly in sequence.
struct OneOrder: Checker {
    static let promise = Promise.oneOrder
    private(set) var checkCount = 0
    private var seq: UInt64 = 0
    /// Of the newest event.
    private var time = WallTime(milliseconds: .min)
    private var consumed = SessionTable<UInt64>()

    mutating func observe(_ observation: Observation, _ book: EntryBook) throws(Violation) {
        switch observation {
        case .began:
            seq = 0
            time = WallTime(milliseconds: .min)
            consumed = SessionTable()
        case .journaled(let journaled): try journal(journaled.record)
        default: break
        }
    }

    private mutating func journal(_ record: Record) throws(Violation) {
        switch record {
        case .event(let record):
            checkCount += 1
            if record.seq.value != seq + 1 {
                throw Violation(.oneOrder, "event \(record.seq) was journaled after \(seq)")
            }
            if record.time < time {
                throw Violation(.oneOrder, "event \(record.seq) is of \(record.time), the one before of \(time)")
            }
            time = record.time
            seq += 1
            if record.session != .none { try consume(record.session, record.number) }
        case .historyBegun: consumed = SessionTable()
        case .sessionOpened(let session, _):
            if consumed[session] != nil { throw Violation(.oneOrder, "session \(session) was opened twice") }
            consumed[session] = 0
        default: if let (session, number) = record.entry { try consume(session, number) }
        }
    }

    private mutating func consume(_ session: SessionID, _ number: UInt64) throws(Violation) {
        checkCount += 1
        guard let last = consumed[session] else {
            throw Violation(.oneOrder, "entry \(number) of session \(session), which was not opened")
        }
        if number != last + 1 {
            throw Violation(.oneOrder, "entry \(number) of session \(session) was consumed after \(last)")
        }
        consumed[session] = number
    }
}

extension Record {
    /// The numbered entry that this record consumes.
    var entry: (session: SessionID, number: UInt64)? {
        switch self {
        // An event that an operator had applied is nobody's entry any more.
        case .event(let record): record.session == .none ? nil : (record.session, record.number)
        case .refused(let record): (record.session, record.number)
        case .completed(let session, let number, _, _): (session, number)
        case .skipped(let session, let number): (session, number)
        case .quarantined(let record): (record.session, record.number)
        case .attemptEnded(let end): end.entry.map { ($0.session, $0.number) }
        default: nil
        }
    }
}
