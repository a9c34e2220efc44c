import LoopCluster
import LoopCore
import LoopWire

/// Knows the earliest and the latest time of the next try of each effect that the present process has seen fail. The record of a
/// failure has the time of the next try. The wait does not change if the wall clock is set meanwhile, even between two processes.
struct RetryWatch {
    private var due: [EffectID: UInt64] = [:]
    /// When the present process began.
    private var beganAt: UInt64 = 0
    /// How much longer a wait may last, in nanoseconds, because effects with earlier grants first wait for their claims.
    private static let graceMax: UInt64 = 60_000_000_000
    /// The newest time in the journal.
    private var journaledTime = WallTime(milliseconds: 0)

    /// A process begins, and its journal ends at this time.
    mutating func begin(at time: WallTime, _ now: UInt64) {
        beganAt = now
        due = [:]
        journaledTime = time
    }

    /// A record is durable.
    mutating func note(_ record: Record, of turn: TurnMoment) {
        switch record {
        case .event(let event): journaledTime = max(journaledTime, event.time)
        case .epochBegun(_, let time), .historyBegun(_, let time): journaledTime = max(journaledTime, time)
        case .scheduled(let record): journaledTime = max(journaledTime, record.time)
        case .operatorAction(let action):
            if case .retryParked(let effect) = action.what { due[effect] = nil }
            if action.what == .acceptClock { journaledTime = action.time }
        case .attemptEnded(let end):
            due[end.effect] = nil
            guard case .retry(let retry) = end.next, end.cause == .failed || end.cause == .timedOut else { return }
            // A clock that was set back does not make a wait longer than planned.
            let delay = min(retry.wait, retry.notBefore.milliseconds - max(turn.wall, journaledTime).milliseconds)
            if delay > 0 { due[end.effect] = turn.at + UInt64(delay) * 1_000_000 }
        case .refused, .completed, .skipped, .granted, .sessionOpened, .sessionOwned, .sessionRetired, .definition,
            .stateHash,
            .stateMarked,
            .markHash, .quarantined:
            break
        }
    }

    /// Whether an effect may still wait for its next try.
    func mayWait(_ effect: EffectID, _ retry: RetryTime, at now: UInt64) -> Bool {
        let wait = UInt64(clamping: retry.wait).multipliedReportingOverflow(by: 1_000_000)
        return wait.overflow || now < max(due[effect] ?? 0, beganAt + wait.partialValue) + Self.graceMax
    }

    /// A message leaves the reducer.
    /// - Parameter count: called for each try that is compared.
    mutating func check(_ message: Outbound, of turn: TurnMoment, _ count: () -> Void) throws(Violation) {
        guard !due.isEmpty, case .inbox(_, let frame) = message, case .commands(_, let commands) = frame.message
        else { return }
        for case .start(let grant) in commands {
            guard let due = due.removeValue(forKey: grant.effect) else { continue }
            count()
            if turn.at + 3_000_000 < due {
                throw Violation(
                    .bounded,
                    "\(grant.effect) is tried again \((due - turn.at) / 1_000_000) ms before its delay is over")
            }
        }
    }
}
