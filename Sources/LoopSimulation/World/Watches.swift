import LoopCluster
import LoopCore
import LoopWire

/// When the reducer's machine was given the time, and when it was frozen instead. A reducer that was frozen does not blame its
/// workers: leases are longer by that time.
struct LeaseWatch {
    /// The epoch of the serving process.
    var epoch = Epoch.none
    private var advancedAt: UInt64 = 0
    private var standstills: [(endedAt: UInt64, length: UInt64)] = []

    /// A process begins to serve.
    mutating func begin(_ epoch: Epoch, at now: UInt64) {
        self.epoch = epoch
        advancedAt = now
        standstills = []
    }

    /// The machine was given the time.
    mutating func advance(to now: UInt64, silenceLimit: UInt64) {
        if now - advancedAt > silenceLimit / 2 { standstills.append((now, now - advancedAt)) }
        advancedAt = now
    }

    /// How long the reducer was frozen, in standstills that ended at a time or later.
    func stoodStill(since time: UInt64) -> UInt64 {
        standstills.reduce(0) { $1.endedAt >= time ? $0 + $1.length : $0 }
    }
}

/// How long one worker's effects may not be given to another one. A lease runs from the time when the newest tick that the worker
/// has read was sent, or from its join acceptance.
struct LeaseAccount {
    /// When the newest message that has reached the worker in this epoch left the reducer, or 0 if none has.
    private(set) var reachedAt: UInt64 = 0
    /// When it last read a message of its history in its inbox.
    var heardAt: UInt64
    /// The value of `reachedAt` when the reducer was last seen to have taken its effects, and the time of the last check.
    private var lapsed: (reached: UInt64, lookedAt: UInt64) = (.max, 0)

    init(heardAt: UInt64) { self.heardAt = heardAt }

    /// Another process serves, and the worker has read no message of it.
    mutating func begin() { reachedAt = 0 }

    mutating func reach(at time: UInt64) { reachedAt = max(reachedAt, time) }

    /// Whether the lease is over and it is time to check whether its effects were taken.
    func mustBeChecked(at now: UInt64, silenceLimit: UInt64, _ watch: LeaseWatch) -> Bool {
        guard reachedAt > 0, now > reachedAt + silenceLimit, lapsed.reached != reachedAt,
            now >= lapsed.lookedAt + 50_000_000
        else { return false }
        return now > reachedAt + silenceLimit + watch.stoodStill(since: reachedAt)
    }

    /// Notes the result of a check.
    mutating func note(isTaken: Bool, at now: UInt64) { lapsed = (isTaken ? reachedAt : .max, now) }
}

/// The number up to which each session's entries must be read after a turn: everything that the machine received is consumed, or
/// waits. The reducer requests lost entries again, so nothing else would show an entry that it drops itself.
struct ReadAccount {
    private var expected: [SessionID: UInt64] = [:]

    /// A turn begins. Everything that waited after the last turn still waits.
    mutating func begin(_ reducer: ReducerMachine) {
        expected = [:]
        for session in reducer.waitingSessions { expected[session] = reducer.read(of: session) }
    }

    /// A batch of the present history is passed to the reducer. A batch after a gap is dropped, and comes again.
    /// - Parameter known: the number up to which the reducer has read the session.
    mutating func note(_ batch: Batch, after known: UInt64?) {
        guard let read = expected[batch.session] ?? known, batch.first <= read + 1 else { return }
        expected[batch.session] = max(read, batch.first + UInt64(batch.entries.count) - 1)
    }

    /// Compares after a turn.
    /// - Parameter count: called for each session that is compared.
    func check(_ reducer: ReducerMachine, _ count: () -> Void) throws(Violation) {
        // A batch that was dropped for lack of space counts as lost.
        if expected.isEmpty || reducer.counters[.deferredDropped] ?? 0 > 0 { return }
        for (session, expected) in expected {
            count()
            guard let read = reducer.read(of: session), read < expected else { continue }
            throw Violation(
                .nothingLost,
                "entry \(read + 1) of session \(session) was read, and is neither consumed nor does it wait")
        }
    }
}

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

/// Knows which observers fetch a state. Few are served at once. No observer may be sent away because of transfers that are over.
struct TransferWatch {
    /// When each observer without a last part last sent a request, or got an answer. A slow reducer answers later.
    private var fetching: [Route: UInt64] = [:]

    /// Another process begins to serve.
    mutating func begin() { fetching = [:] }

    /// A request has reached the reducer.
    mutating func note(_ message: ToReducer, from route: Route, at now: UInt64) {
        if case .stateRequest = message { fetching[route] = now }
    }

    /// An answer leaves the reducer, as of a turn.
    /// - Parameter most: how many transfers may be under way at once.
    mutating func check(
        _ frame: PeerFrame, to route: Route, at now: UInt64, most: Int, _ count: () -> Void
    ) throws(Violation) {
        switch frame.message {
        case .statePart(let part): fetching[route] = part.end == .state ? nil : now
        case .busy(.state(transfer: 0), _, let reason) where reason.contains("under way"):
            count()
            // The observer that is sent away has sent a request too.
            let others = fetching.count { $0.key != route && now < $0.value + 2_000_000_000 }
            guard others < most else { return }
            throw Violation(
                .progress, "an observer is sent away for \(most) transfers, and \(others) observers fetch a state")
        default: break
        }
    }
}
