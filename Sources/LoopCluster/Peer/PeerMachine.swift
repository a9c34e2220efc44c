package import LoopCollections
public import LoopCore
public import LoopWire

/// A worker's or a sender's side of the protocol, without sockets, clocks, threads or chance.
///
///     introducing ── introduction ──▶ join request ── join acceptance through the inbox ──▶ claiming ── assignments ──▶ joined
///          ▲                             ▲                                                                   │
///          └── silence ──────────────────┴── a newer epoch or another history ───────────────────────────────┘
///
/// Every step is repeated until the next one is seen. Effects go on through all of this: only the reducer's word, or
/// another history, ends them (protocol, sections 5 and 6). Actions wait in order until the shell takes them.
public struct PeerMachine: Sendable {
    enum Stage: Equatable, Sendable {
        /// Hello is repeated: where the other sockets are is not known, or they have been silent for too long.
        case introducing
        /// The sockets are connected; the subscription is proven by the join acceptance that comes through it.
        case joining
        /// Admitted in this epoch; the reducer is told what this peer holds.
        case claiming
        /// The whole assignment was applied; batches and commands flow.
        case joined
        /// Everything is handed back and known; goodbye is repeated until it is answered.
        case leaving
        /// Refused, ended or gone: nothing more happens.
        case over
    }

    /// Under which ID the peer is known changes where somebody else has used its session.
    public internal(set) var configuration: PeerConfiguration
    package var brokenRules = BrokenRules()

    var stage = Stage.introducing
    /// The loop this peer speaks to; a tool that works with any loop learns it from the introduction.
    public internal(set) var loop: LoopID
    /// The history that the peer was last admitted in; `.none` before the first time.
    public internal(set) var history = History.none
    /// Histories that this peer has left, the newest last: their late words are not listened to.
    var leftHistories: [History] = []
    /// The epoch that the peer was last admitted in; `.none` before the first time.
    public internal(set) var epoch = Epoch.none
    /// The session that numbers the peer's entries; `.none` before it is granted one.
    public internal(set) var session = SessionID.none
    var silenceLimit = Duration.seconds(3)
    var tickInterval = Duration.milliseconds(500)
    var eventBytesMax = Int.max
    /// The names behind the feedbacks' numbers, as the reducer has last said.
    var feedbacks: [String] = []

    // The stream to the reducer.
    package internal(set) var outbox = Outbox()
    /// Of a stream that outlives its process: how far the outcomes are on disk. The reducer is told no more than that,
    /// for it forgets the outcomes of what is settled. nil: the stream ends with the process.
    var keptSettled: UInt64?
    /// When an outcome was last heard, or the oldest entry was accepted.
    var progressAt = MonotonicTime.zero
    /// When entries were last to be sent again.
    var resentAt = MonotonicTime.zero
    /// How far the reducer had read when that last changed, and what had left here by then.
    var standing = ReadStanding()
    var pushRebuilds = 0
    var needsOutcomes = false
    var hadNoSpace = false

    // The inbox.
    var applied: UInt64 = 0
    var reportedApplied: UInt64 = 0
    var echo: UInt64 = 0
    var needsAssignments = false
    var assembling: Assignments?
    var heardAt: MonotonicTime

    // Effects.
    package internal(set) var running = HashTable<EffectID, RunningAttempt>()
    /// Attempts that have ended here and whose last entry is not settled.
    var finished = MixedSet<FinishedAttempt>()
    var isStopping = false
    /// The loop has ended; what is left is to learn what became of the outbox.
    var ending: HeardEnd?
    /// Whether an observer on the same connection is on its way to the last state.
    var awaitsLastState = false

    // Timers: when each is due next.
    var nextStep = MonotonicTime.zero
    /// Until then a goodbye is repeated.
    var leavesBy = MonotonicTime.zero
    var nextHeartbeat = MonotonicTime.zero
    var nextRequest = MonotonicTime.zero

    var now: MonotonicTime
    var actions: [PeerAction] = []
    /// How many claims were made.
    var claimsCount: UInt64 = 0
    /// Why the reducer keeps this peer waiting; nil: it does not, or has not said.
    public internal(set) var busyReason: String?
    /// Frames that were not for this peer's present session, epoch or history.
    public internal(set) var droppedCount: UInt64 = 0

    /// Creates a peer without a session, which begins to join at the first `advance`.
    /// - Parameter now: the shell's present time. The times of later calls count from the same start.
    public init(configuration: PeerConfiguration, at now: MonotonicTime) {
        self.configuration = configuration
        loop = LoopID(name: configuration.loop)
        self.now = now
        heardAt = now
    }

    /// A sender that goes on with the stream of an earlier process: the same peer, in the same session. It claims nothing.
    ///
    /// After every input, and before any action is done and any batch is pushed, the shell writes down what has changed of
    /// ``stream(after:)``, and says so by ``kept(settled:)``.
    public init(configuration: PeerConfiguration, resuming stream: PeerStream, at now: MonotonicTime) {
        self.init(configuration: configuration, continuing: stream, at: now)
        keptSettled = stream.settled
    }

    /// A peer that goes on in the session of an earlier one, which is gone with everything that it had not sent. It keeps
    /// nothing for a later one.
    public init(configuration: PeerConfiguration, continuing stream: PeerStream, at now: MonotonicTime) {
        self.init(configuration: configuration, at: now)
        history = stream.history
        epoch = stream.epoch
        session = stream.session
        outbox = Outbox(resuming: stream)
    }

    /// What is to be kept of the stream: with the entries whose number, as their sender knows it, is above this one.
    public func stream(after number: UInt64) -> PeerStream {
        var stream = PeerStream()
        // The goodbye ends the session, and may be read long after: no later process goes on in it.
        if outbox.isEmpty, stage == .over || stage == .leaving && !breaks(.sessionsEndWithTheGoodbye) {
            stream.base = outbox.base + outbox.last
            return stream
        }
        (stream.history, stream.epoch, stream.session) = (history, epoch, session)
        (stream.base, stream.settled) = (outbox.base, outbox.settled)
        // Whoever has joined may push all that there is.
        stream.offered = stage == .joined ? outbox.last : outbox.offered
        stream.entries = outbox.entries(after: number > outbox.base ? number - outbox.base : 0)
        return stream
    }

    /// How many entries there are, as their sender counts them.
    public var lastNumber: UInt64 { outbox.base + outbox.last }
    /// Up to which number, as their sender counts them, the outcomes are known.
    public var settledNumber: UInt64 { outbox.base + outbox.settled }

    /// The stream is on disk with outcomes up to this number of the session.
    public mutating func kept(settled: UInt64) { keptSettled = settled }

    /// Every outcome up to here is known for good.
    var settledForGood: UInt64 { min(outbox.settled, keptSettled ?? .max) }

    /// Whether the peer has joined in this epoch: its batches and the reducer's commands flow.
    public var isJoined: Bool { stage == .joined }
    package func entry(_ number: UInt64) -> Entry? { outbox.entry(number) }
    /// Whether nothing more happens: the peer was refused, the loop has ended, or the peer has left.
    public var isOver: Bool { stage == .over }
    /// Whether nothing is taken any more.
    var hasLeft: Bool { stage == .over || stage == .leaving }

    /// The name of the feedback that an effect belongs to; nil: the reducer has not told.
    public func feedbackName(of effect: EffectID) -> String? {
        effect.feedback < feedbacks.count ? feedbacks[Int(effect.feedback)] : nil
    }

    /// Whether there are wishes that nobody has taken.
    public var hasActions: Bool { !actions.isEmpty }

    /// The wishes of all inputs since the last call, in order.
    public mutating func takeActions() -> [PeerAction] {
        if actions.isEmpty { return [] }
        defer { actions.removeAll(keepingCapacity: true) }
        return actions
    }

    /// When the machine wants to be told the time, if nothing arrives before.
    public var deadline: MonotonicTime {
        switch stage {
        case .introducing, .joining, .claiming: nextStep
        case .joined: needsAssignments || needsOutcomes ? min(nextHeartbeat, nextRequest) : nextHeartbeat
        case .leaving: min(nextStep, leavesBy)
        case .over: MonotonicTime(nanoseconds: .max)
        }
    }

    /// The same for it and an observer on the same connection. Once the observer has handed out the end, the loop is left at
    /// once.
    public func deadline(with observer: ObserverMachine) -> MonotonicTime {
        if ending != nil, awaitsLastState, observer.hasEnded { return now }
        return min(deadline, observer.deadline)
    }

    // MARK: Time

    /// Takes notice of time: repeats what was not answered, and notices silence.
    public mutating func advance(to now: MonotonicTime) {
        self.now = max(self.now, now)
        noticeSilence()
        if isStopping, !running.isEmpty { releaseAll() }
        switch stage {
        case .introducing: step { .hello(name: $0.configuration.loop, schema: $0.configuration.schema) }
        case .joining: step { .join($0.joinRequest) }
        case .claiming: claimIfDue()
        case .joined:
            heartbeatIfDue()
            requestIfDue()
            resendIfStuck()
        case .leaving: leave()
        case .over: break
        }
    }

    /// What was to be sent over DEALER found no connection, and now there is one: it is repeated at once.
    public mutating func hasConnected() {
        nextStep = now
        nextHeartbeat = now
        nextRequest = now
    }

    mutating func step(_ message: (PeerMachine) -> ToReducer) {
        guard now >= nextStep else { return }
        nextStep = now + configuration.repeatInterval
        actions.append(.send(message(self)))
    }

    /// All of a claim, under a number of its own: parts of two claims are not put together. A large one is repeated less often.
    private mutating func claimIfDue() {
        guard now >= nextStep else { return }
        claimsCount += 1
        let bytesMax = breaks(.messagesComeInParts) ? .max : configuration.payloadBytesMax
        let parts = ClaimPart.parts(of: claims, number: claimsCount, bytesMax: bytesMax)
        nextStep = now + configuration.repeatInterval * min(parts.count, 5)
        for part in parts { actions.append(.send(.claim(session, epoch, part))) }
    }

    mutating func enter(_ stage: Stage) {
        self.stage = stage
        nextStep = now
    }

    /// Without a sign of life for the limit the subscription may be dead: a new one, and a new join request.
    private mutating func noticeSilence() {
        guard !hasLeft, !breaks(.silenceIsNoticed), now - heardAt > silenceLimit else { return }
        // An observer that does not come to the last state knows of something newer.
        if ending != nil, !awaitsLastState { return endUnheard() }
        if stage == .introducing { return }
        heardAt = now
        enter(.introducing)
    }

    private mutating func heartbeatIfDue() {
        guard now >= nextHeartbeat || applied - reportedApplied >= 64 else { return }
        nextHeartbeat = now + tickInterval
        reportedApplied = applied
        actions.append(.send(.heartbeat(heartbeat)))
    }

    private mutating func requestIfDue() {
        guard needsAssignments || needsOutcomes, now >= nextRequest else { return }
        nextRequest = now + configuration.repeatInterval
        if needsAssignments { actions.append(.send(.assignmentsRequest(session, epoch))) }
        if needsOutcomes { actions.append(.send(.outcomesRequest(session, after: settledForGood))) }
    }

    /// An entry that stays unconsumed for the limit while ticks come: the PUSH does not deliver.
    private mutating func resendIfStuck() {
        guard !outbox.isEmpty, outbox.sent > outbox.settled, now - progressAt > silenceLimit else { return }
        progressAt = now
        outbox.goBack(to: outbox.settled)
        pushRebuilds += 1
        if pushRebuilds <= 3 {
            actions.append(.rebuildPush)
        } else {
            // The reducer ends the session, and answers the next join request with a new one. Until it says so this session
            // goes on: its numbers must not be given twice, should the goodbye get lost.
            pushRebuilds = 0
            actions.append(.send(goodbye))
            enter(.introducing)
        }
    }

    private var joinRequest: JoinRequest {
        JoinRequest(
            peer: configuration.peer, session: session, history: history, epoch: epoch, watermark: outbox.settled,
            schema: configuration.schema, fingerprint: configuration.fingerprint, capacity: capacity,
            groups: configuration.groups, name: configuration.name, feedbacks: configuration.feedbacks)
    }

    var goodbye: ToReducer { .goodbye(session, configuration.peer, history) }

    private var heartbeat: Heartbeat {
        Heartbeat(
            session: session, epoch: epoch, echo: echo, applied: applied, settled: settledForGood,
            capacity: capacity)
    }

    /// Never more than the outbox has room for their ends: a worker that cannot send takes no more work.
    private var capacity: UInt32 {
        isStopping || ending != nil
            ? 0 : UInt32(clamping: min(configuration.capacity, configuration.outboxEntriesMax - outbox.count))
    }

    /// Every attempt that runs or has entries in the outbox.
    private var claims: [ClaimedAttempt] {
        var claims = running.map { ClaimedAttempt(effect: $0.key, attempt: $0.value.attempt) }
        if !breaks(.claimsIncludeTheOutbox) {
            claims += finished.map { ClaimedAttempt(effect: $0.effect, attempt: $0.attempt) }
        }
        return claims.sorted { ($0.effect, $0.attempt) < ($1.effect, $1.attempt) }
    }

    func breaks(_ rule: Rule) -> Bool { brokenRules.contains(rule) }
}

extension Attempt {
    /// Not below any attempt.
    static let all = Attempt(epoch: .max, count: .max)
}

/// Up to where the reducer has read a session's entries, as its ticks say.
struct ReadStanding: Equatable, Sendable {
    var received: UInt64 = 0
    /// The reducer's clock when it first said so.
    var stamp: UInt64 = 0
    /// What had left here when that was heard.
    var sent: UInt64 = 0

    /// Takes notice of a tick.
    /// - Returns: whether entries that had left are missing: for so long, by its own clock, the reducer has read all that had
    ///   arrived, and nothing of them. What left just before the first of the two ticks was heard has arrived by then.
    mutating func note(_ tick: Tick, sent: UInt64, over interval: Duration) -> Bool {
        guard tick.received == received, self.sent > received, tick.stamp >= stamp else {
            self = ReadStanding(received: tick.received, stamp: tick.stamp, sent: sent)
            return false
        }
        return tick.stamp - stamp >= UInt64(interval.wholeNanoseconds)
    }
}

/// One attempt that runs here.
package struct RunningAttempt: Equatable, Sendable {
    package let attempt: Attempt
    package var version: Seq
}

/// One attempt that has ended here, until its last entry is settled.
struct FinishedAttempt: MixedKey, Sendable {
    let effect: EffectID
    let attempt: Attempt

    /// Both are given out by the reducer.
    var mixed: UInt64 { Mix.finish(effect.mixed &+ attempt.epoch &* 31 &+ attempt.count) }
}
