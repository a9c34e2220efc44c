import LoopCluster
import LoopCore
import LoopWire

extension Record {
    /// The numbered entry that this record consumes.
    var entry: (session: SessionID, number: UInt64)? {
        switch self {
        // An event that an operator has retried is no longer an entry, and a timer's event never was.
        case .event(let record): record.session == .none ? nil : (record.session, record.number)
        case .refused(let record): (record.session, record.number)
        case .completed(let session, let number, _, _): (session, number)
        case .skipped(let session, let number): (session, number)
        case .quarantined(let record): record.session == .none ? nil : (record.session, record.number)
        case .attemptEnded(let end): end.entry.map { ($0.session, $0.number) }
        case .granted, .sessionOpened, .sessionOwned, .sessionRetired, .epochBegun, .definition, .stateHash,
            .stateMarked, .markHash, .operatorAction, .historyBegun, .scheduled:
            nil
        }
    }

    /// The outcome that the sender of the consumed entry learns, or nil if the record consumes none.
    var outcome: EntryOutcome? {
        switch self {
        case .event(let event): .applied(event.seq)
        case .refused(let refusal): .refused(refusal.reason)
        case .quarantined: .refused(.quarantined)
        case .completed, .skipped, .attemptEnded: .applied(.initial)
        case .granted, .sessionOpened, .sessionOwned, .sessionRetired, .epochBegun, .definition, .stateHash,
            .stateMarked, .markHash, .operatorAction, .historyBegun, .scheduled:
            nil
        }
    }
}
