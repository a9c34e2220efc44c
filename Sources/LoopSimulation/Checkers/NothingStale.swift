import LoopCluster
import LoopCore
import LoopWire

/// G5: no entry of an effect is applied after the transition that cancels it, nor after it has completed or failed for good. After
/// the event that ends the loop nothing is applied, and no effect starts. The model knows which effects are wanted and whether the
/// loop has ended.
struct NothingStale: Checker {
    static let promise = Promise.nothingStale
    private(set) var checkCount = 0
    /// Effects that had ended while they were wanted.
    private var over: Set<EffectID> = []
    /// Effects that were wanted when another history began. Attempts that ran then may have done something.
    private var carriedOver: Set<EffectID> = []

    mutating func begin() {
        over = []
        carriedOver = []
    }

    mutating func follow<Work>(_ record: Record, _ model: LoopModel<Work>) throws(Violation) {
        if case .historyBegun = record { carriedOver.formUnion(model.live) }
        try demandBeforeTheEnd(record, model.outcome)
        try follow(record) { model.live.contains($0) }
    }

    /// A frame leaves the reducer.
    mutating func check<Work>(_ message: Outbound, _ model: LoopModel<Work>) throws(Violation) {
        switch message {
        case .inbox(_, let frame):
            if case .commands(_, let commands) = frame.message { try demandWanted(commands, model.outcome) }
        case .reply(_, let frame):
            if case .assignments(let part) = frame.message, let grant = part.grants.first {
                try demandEndless(model.outcome, "\(grant.effect) is assigned")
            }
        case .publish: break
        }
    }

    private mutating func demandBeforeTheEnd(_ record: Record, _ outcome: Outcome?) throws(Violation) {
        switch record {
        case .event(let event): try demandEndless(outcome, "event \(event.seq) is applied")
        case .completed(_, let number, let effect, _):
            try demandEndless(outcome, "entry \(number) completes \(effect)")
        case .refused(let refusal):
            guard refusal.reason == .ended, outcome == nil else { return }
            throw Violation(
                .nothingStale,
                "entry \(refusal.number) of session \(refusal.session) is refused as after an end that did not happen")
        case .skipped, .granted, .attemptEnded, .sessionOpened, .sessionOwned, .sessionRetired, .epochBegun,
            .definition,
            .stateHash,
            .stateMarked, .markHash, .quarantined, .operatorAction, .historyBegun, .scheduled:
            break
        }
    }

    private mutating func demandEndless(_ outcome: Outcome?, _ what: @autoclosure () -> String) throws(Violation) {
        checkCount += 1
        if outcome != nil { throw Violation(.nothingStale, "\(what()), and the loop has ended") }
    }

    private mutating func follow(_ record: Record, _ isLive: (EffectID) -> Bool) throws(Violation) {
        switch record {
        case .event(let record):
            guard let effect = record.effect else { return }
            try demand(effect, record.session, record.number, isLive(effect))
            if record.isLast { over.insert(effect) }
        case .quarantined(let record):
            if record.isLast, let effect = record.effect { over.insert(effect) }
        case .completed(let session, let number, let effect, _):
            try demand(effect, session, number, isLive(effect))
            over.insert(effect)
        case .attemptEnded(let end):
            if let entry = end.entry { try demand(end.effect, entry.session, entry.number, isLive(end.effect)) }
            if end.next == .parked { over.insert(end.effect) }
        case .operatorAction(let action):
            if case .retryParked(let effect) = action.what { over.remove(effect) }
        case .refused, .skipped, .granted, .sessionOpened, .sessionOwned, .sessionRetired, .epochBegun, .definition,
            .stateHash, .stateMarked, .markHash, .historyBegun, .scheduled:
            break
        }
    }

    private mutating func demand(
        _ effect: EffectID, _ session: SessionID, _ number: UInt64, _ isLive: Bool
    ) throws(Violation) {
        checkCount += 1
        if !isLive {
            throw Violation(
                .nothingStale, "entry \(number) of session \(session) counts for \(effect), which is not wanted")
        }
        // An event that an operator has retried may come after its effect's end, but not after its cancellation.
        if over.contains(effect), session != .none {
            throw Violation(
                .nothingStale, "entry \(number) of session \(session) counts for \(effect), which had ended")
        }
    }

    /// Checks that an effect that has ended never starts again.
    private mutating func demandWanted(_ commands: CommandRun, _ outcome: Outcome?) throws(Violation) {
        for case .start(let grant) in commands {
            try demandEndless(outcome, "\(grant.effect) is started")
            checkCount += 1
            if carriedOver.contains(grant.effect), !grant.isResumed {
                throw Violation(
                    .oneOwner, "\(grant.effect) is of an earlier history, and is granted as if it had never run")
            }
            if over.contains(grant.effect) {
                throw Violation(.nothingStale, "\(grant.effect) had ended, and is started as \(grant.attempt)")
            }
        }
    }
}
