import LoopCluster
import LoopWire

/// G4: no entry is consumed twice in a journal, and none is applied twice in any.
struct NothingTwice: Checker {
    static let promise = Promise.nothingTwice
    private(set) var checkCount = 0
    /// By the ids of entries.
    private var consumed: Set<Int> = []
    private var applied: Set<Int> = []
    /// The quarantined entries by their number, and the one that an operator has retried. The next record is its event.
    private var aside: [UInt64: SentEntry] = [:]
    private var retried: SentEntry?
    /// The events of timers and schedules in quarantine.
    private var timersAside: Set<UInt64> = []
    /// Whether an operator has asked for one of them.
    private var isTimerRetried = false

    mutating func begin() {
        consumed = []
        aside = [:]
        timersAside = []
    }

    mutating func lose(_ records: [JournaledRecord]) {
        for record in records { forget(record) }
    }

    private mutating func forget(_ journaled: JournaledRecord) {
        if let entry = journaled.entry {
            consumed.remove(entry.id)
            applied.remove(entry.id)
        }
        if case .operatorAction(let action) = journaled.record, case .retryQuarantined(let id) = action.what,
            let entry = aside[id]
        {
            applied.remove(entry.id)
        }
        retried = nil
        isTimerRetried = false
    }

    mutating func follow(_ journaled: JournaledRecord) throws(Violation) {
        defer { if case .event = journaled.record { retried = nil } }
        if case .operatorAction(let action) = journaled.record, case .retryQuarantined(let id) = action.what {
            retried = aside[id]
            isTimerRetried = timersAside.contains(id)
        }
        if case .quarantined(let record) = journaled.record, record.session == .none { timersAside.insert(record.id) }
        if let entry = journaled.entry {
            checkCount += 1
            if !consumed.insert(entry.id).inserted {
                throw Violation(
                    .nothingTwice, "\(entry.kind) #\(entry.id) was consumed a second time: \(journaled.record)")
            }
            switch journaled.record {
            case .quarantined(let record): aside[record.id] = entry
            case .event, .completed, .skipped, .attemptEnded: try apply(entry, journaled.record)
            case .refused, .granted, .sessionOpened, .sessionOwned, .sessionRetired, .epochBegun, .definition,
                .stateHash, .stateMarked, .markHash, .operatorAction, .historyBegun, .scheduled:
                break
            }
        } else if case .event(let record) = journaled.record, record.session == .none,
            !record.isOfTimer, !record.isOfTimeout, record.run == nil
        {
            if isTimerRetried {
                isTimerRetried = false
                return
            }
            guard let retried else {
                throw Violation(.nothingTwice, "event \(record.seq) has no sender, and no operator has asked for it")
            }
            try apply(retried, journaled.record)
        }
    }

    private mutating func apply(_ entry: SentEntry, _ record: Record) throws(Violation) {
        checkCount += 1
        if !applied.insert(entry.id).inserted {
            throw Violation(.nothingTwice, "\(entry.kind) #\(entry.id) was applied a second time: \(record)")
        }
        if case .event(let event) = record, let payload = entry.payload, event.bytes != payload {
            throw Violation(.nothingTwice, "\(entry.kind) #\(entry.id) was applied with other bytes than it had")
        }
    }
}
