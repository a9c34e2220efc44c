import LoopCluster
import LoopCore
import LoopWire

/// G1: events are numbered without gaps, and each session's entries are consumed strictly in sequence.
struct OneOrder: Checker {
    static let promise = Promise.oneOrder
    private(set) var checkCount = 0
    private var seq: UInt64 = 0
    /// The time of the newest event.
    private var time = WallTime(milliseconds: .min)
    private var consumed: [SessionID: UInt64] = [:]

    mutating func begin() {
        seq = 0
        time = WallTime(milliseconds: .min)
        consumed = [:]
    }

    mutating func follow(_ record: Record) throws(Violation) {
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
        case .operatorAction(let action):
            if action.what == .acceptClock { time = action.time }
        case .historyBegun: consumed = [:]
        case .sessionOpened(let session, _):
            if consumed[session] != nil { throw Violation(.oneOrder, "session \(session) was opened twice") }
            consumed[session] = 0
        case .refused, .completed, .skipped, .granted, .attemptEnded, .sessionOwned, .sessionRetired, .epochBegun,
            .definition,
            .stateHash,
            .stateMarked, .markHash, .quarantined, .scheduled:
            break
        }
        if let (session, number) = record.entry { try consume(session, number) }
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
