public import LoopCore
public import LoopWire

/// A worker's or a sender's side of the protocol, without sockets, clocks, threads or chance.
///
///     introducing ── introduction ──▶ greeting ── welcome through the inbox ──▶ claiming ── assignments ──▶ joined
///          ▲                             ▲                                                                   │
///          └── silence ──────────────────┴── a newer epoch or another history ───────────────────────────────┘
///
/// Every step is repeated until the next one is seen. Effects go on through all of this: only the reducer's word, or
/// another history, ends them (protocol, sections 5 and 6). Actions wait in order until the shell takes them.
public struct PeerMachine: Sendable {
    enum Stage: Equatable, Sendable {
        /// Hello is repeated: where the other sockets are is not known, or they have been silent for too long.
        case introducing
        /// The sockets are connected; the subscription is proven by the welcome that comes through it.
        case greeting
        /// Welcomed in this epoch; the reducer is told what this peer holds.
        case claiming
        /// The whole assignment was applied; batches and commands flow.
        case joined
        /// Refused, ended or gone: nothing more happens.
        case over
    }

    public let configuration: PeerConfiguration
    package var brokenRules = BrokenRules()

    var stage = Stage.introducing
    /// The loop this peer speaks to; a tool that works with any loop learns it from the introduction.
    public private(set) var loop: LoopID
    public internal(set) var history = History.none
    /// Histories that this peer has left, the newest last: their late words are not listened to.
    private var leftHistories: [History] = []
    public internal(set) var epoch = Epoch.none
    public internal(set) var session = SessionID.none
    var silenceLimit = Duration.seconds(3)
    var tickInterval = Duration.milliseconds(500)
    var eventBytesMax = Int.max
    /// The names behind the feedbacks' numbers, as the reducer has last said.
    private var feedbacks: [String] = []

    // The stream to the reducer.
    package internal(set) var outbox = Outbox()
    /// Of a stream that outlives its process: how far the outcomes are on disk. The reducer is told no more than that,
    /// for it forgets the outcomes of what is settled. nil: the stream ends with the process.
    private(set) var keptSettled: UInt64?
    /// When an outcome was last heard, or the oldest entry was accepted.
    var progressAt = MonotonicTime.zero
    /// When entries were last to be sent again.
    var resentAt = MonotonicTime.zero
    var pushRebuilds = 0
    var needsOutcomes = false
    var hadNoRoom = false

    // The inbox.
    var applied: UInt64 = 0
    var reportedApplied: UInt64 = 0
    var echo: UInt64 = 0
    var needsAssignments = false
    var assembling: Assignments?
    var heardAt: MonotonicTime

    // Effects.
    package internal(set) var running: [EffectID: RunningAttempt] = [:]
    /// Attempts that have ended here and whose last entry is not settled.
    var finished: Set<FinishedAttempt> = []
    var isStopping = false
    /// The loop has ended; what is left is to learn what became of the outbox.
    var ending: Ending?

    struct Ending: Equatable, Sendable {
        let exitCode: Int32
        let text: String
    }

    // Timers: when each is due next.
    var nextStep = MonotonicTime.zero
    var nextHeartbeat = MonotonicTime.zero
    var nextRequest = MonotonicTime.zero

    var now: MonotonicTime
    var actions: [PeerAction] = []
    /// Frames that were not for this peer's present session, epoch or history.
    public internal(set) var droppedCount: UInt64 = 0

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
        self.init(configuration: configuration, at: now)
        history = stream.history
        epoch = stream.epoch
        session = stream.session
        outbox = Outbox(resuming: stream)
        keptSettled = stream.settled
    }

    /// What is to be kept of the stream: with the entries whose number, as their sender knows it, is above this one.
    public func stream(after number: UInt64) -> PeerStream {
        var stream = PeerStream()
        // Nothing is left where the process may go, and the session is retired.
        if stage == .over, outbox.isEmpty {
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

    public var isJoined: Bool { stage == .joined }
    package func entry(_ number: UInt64) -> Entry? { outbox.entry(number) }
    public var isOver: Bool { stage == .over }

    /// The name of the feedback that an effect belongs to; nil: the reducer has not told.
    public func feedbackName(of effect: EffectID) -> String? {
        effect.feedback < feedbacks.count ? feedbacks[Int(effect.feedback)] : nil
    }

    /// The wishes of all inputs since the last call, in order.
    public mutating func takeActions() -> [PeerAction] {
        if actions.isEmpty { return [] }
        defer { actions.removeAll(keepingCapacity: true) }
        return actions
    }

    /// When the machine wants to be told the time, if nothing arrives before.
    public var deadline: MonotonicTime {
        switch stage {
        case .introducing, .greeting, .claiming: nextStep
        case .joined: needsAssignments || needsOutcomes ? min(nextHeartbeat, nextRequest) : nextHeartbeat
        case .over: MonotonicTime(nanoseconds: .max)
        }
    }

    // MARK: Time

    /// Takes notice of time: repeats what was not answered, and notices silence.
    public mutating func advance(to now: MonotonicTime) {
        self.now = max(self.now, now)
        noticeSilence()
        switch stage {
        case .introducing: step { .hello(name: $0.configuration.loop, schema: $0.configuration.schema) }
        case .greeting: step { .greet($0.greeting) }
        case .claiming: step { .claim($0.session, $0.epoch, $0.claims) }
        case .joined:
            heartbeatIfDue()
            requestIfDue()
            resendIfStuck()
        case .over: break
        }
    }

    private mutating func step(_ message: (PeerMachine) -> ToReducer) {
        guard now >= nextStep else { return }
        nextStep = now + configuration.repeatInterval
        actions.append(.send(message(self)))
    }

    private mutating func enter(_ stage: Stage) {
        self.stage = stage
        nextStep = now
    }

    /// Without a sign of life for the limit the subscription may be dead: a new one, and a new greeting.
    private mutating func noticeSilence() {
        guard stage != .introducing, stage != .over, !breaks(.silenceIsNoticed), now - heardAt > silenceLimit else {
            return
        }
        if ending != nil { return endUnheard() }
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
            // The reducer ends the session, and answers the next greeting with a new one. Until it says so this session
            // goes on: its numbers must not be given twice, should the goodbye get lost.
            pushRebuilds = 0
            actions.append(.send(.goodbye(session)))
            enter(.introducing)
        }
    }

    private var greeting: Greeting {
        Greeting(
            peer: configuration.peer, session: session, history: history, epoch: epoch, watermark: outbox.settled,
            schema: configuration.schema, fingerprint: configuration.fingerprint, capacity: capacity,
            groups: configuration.groups, name: configuration.name, feedbacks: configuration.feedbacks)
    }

    private var heartbeat: Heartbeat {
        Heartbeat(
            session: session, epoch: epoch, echo: echo, applied: applied, settled: settledForGood,
            capacity: capacity)
    }

    /// Never more than the outbox has room for their ends: a worker that cannot send takes no more work.
    private var capacity: UInt32 {
        isStopping ? 0 : UInt32(clamping: min(configuration.capacity, configuration.outboxEntriesMax - outbox.count))
    }

    /// Every attempt that runs or has entries in the outbox.
    private var claims: [ClaimedAttempt] {
        var claims = running.map { ClaimedAttempt(effect: $0.key, attempt: $0.value.attempt) }
        if !breaks(.claimsIncludeTheOutbox) {
            claims += finished.map { ClaimedAttempt(effect: $0.effect, attempt: $0.attempt) }
        }
        return claims.sorted { ($0.effect, $0.attempt) < ($1.effect, $1.attempt) }
    }

    // MARK: Frames

    /// A frame that came through the inbox topic.
    public mutating func receivePublished(_ frame: PeerFrame, at now: MonotonicTime) {
        self.now = max(self.now, now)
        // A word that is not listened to is no sign of life.
        if !leftHistories.contains(frame.history) { heardAt = self.now }
        receive(frame)
    }

    /// A frame that came over DEALER.
    public mutating func receiveReply(_ frame: PeerFrame, at now: MonotonicTime) {
        self.now = max(self.now, now)
        receive(frame)
    }

    private mutating func receive(_ frame: PeerFrame) {
        if stage == .over { return }
        // Who answers a hello is there: if its history was left for a late word of one that is gone, that was a mistake.
        if case .introduction(let introduction) = frame.message {
            if stage == .introducing { leftHistories.removeAll { $0 == frame.history } }
            return connect(introduction)
        }
        if leftHistories.contains(frame.history) {
            droppedCount += 1
            return
        }
        switch frame.message {
        case .refused(let refused): return refuse(refused)
        case .busy(let retryAfter):
            if stage == .greeting { nextStep = now + retryAfter }
            return
        case .welcome(let watermark, let silenceLimit, let tickInterval, let feedbacks):
            return welcome(frame, watermark, silenceLimit, tickInterval, feedbacks)
        default: break
        }
        guard isCurrent(frame) else { return }
        switch frame.message {
        case .tick(let tick): hear(tick)
        case .acknowledgement(let acknowledgement): acknowledge(acknowledgement)
        case .outcomes(let outcomes):
            guard outcomes.base <= outbox.settled else { return }
            needsOutcomes = false
            settle(upTo: outcomes.watermark, outcomes.notable)
        case .commands(let number, let commands): apply(number, commands)
        case .assignments(let part): assemble(part)
        case .ended(let exitCode, let text): end(exitCode, text)
        case .introduction, .refused, .welcome, .busy, .statePart, .status, .update, .transitions, .commonTick, .answer:
            break
        }
    }

    /// Whether a frame is of this history, epoch and session. One of a newer epoch or another history says that the
    /// reducer was restarted: greet it.
    private mutating func isCurrent(_ frame: PeerFrame) -> Bool {
        if frame.history == history && frame.epoch.number < epoch.number && !breaks(.olderEpochsAreDropped) {
            droppedCount += 1
            return false
        }
        // An epoch of the same number and another nonce is one of a journal that has lost this one.
        if frame.history != history || frame.epoch.number > epoch.number || isOtherEpoch(frame.epoch) {
            if stage == .joined || stage == .claiming { enter(.greeting) }
            return false
        }
        if frame.session != session && !breaks(.framesNameTheirSession) {
            droppedCount += 1
            return false
        }
        return true
    }

    private func isOtherEpoch(_ other: Epoch) -> Bool { other.number == epoch.number && other.nonce != epoch.nonce }

    private mutating func connect(_ introduction: Introduction) {
        guard stage == .introducing else { return }
        loop = LoopID(name: introduction.name)
        eventBytesMax = Int(introduction.eventBytesMax)
        actions.append(.connect(introduction))
        heardAt = now
        enter(.greeting)
    }

    private mutating func refuse(_ refused: Refused) {
        guard stage == .introducing || stage == .greeting else { return }
        actions.append(.refused(refused))
        stage = .over
    }

    private mutating func welcome(
        _ frame: PeerFrame, _ watermark: UInt64, _ silenceLimit: Duration, _ tickInterval: Duration,
        _ feedbacks: [String]
    ) {
        if frame.history == history && frame.epoch.number < epoch.number && !breaks(.olderEpochsAreDropped) {
            droppedCount += 1
            return
        }
        if session != .none && (frame.history != history || frame.session != session) {
            // An older session of the same history is a late word to an earlier self.
            if frame.history == history && frame.session < session { return }
            if frame.history != history { leave(history) }
            loseSession()
        }
        history = frame.history
        session = frame.session
        self.silenceLimit = silenceLimit
        self.tickInterval = tickInterval
        self.feedbacks = feedbacks
        if frame.epoch != epoch {
            epoch = frame.epoch
            applied = 0
            reportedApplied = 0
            echo = 0
        }
        assembling = nil
        outbox.goBack(to: outbox.settled)
        progressAt = now
        if watermark > outbox.settled { needsOutcomes = true }
        enter(.claiming)
    }

    private mutating func hear(_ tick: Tick) {
        echo = max(echo, tick.stamp)
        if tick.number > applied { needsAssignments = true }
        if tick.watermark > outbox.settled {
            if breaks(.acknowledgementsHaveABase) {
                settle(upTo: tick.watermark, [])
            } else {
                needsOutcomes = true
            }
        }
        if tick.received < outbox.sent, tick.resend || now - max(progressAt, resentAt) > tickInterval {
            outbox.goBack(to: tick.received)
            resentAt = now
        }
    }

    // MARK: Outcomes

    private mutating func acknowledge(_ acknowledgement: Acknowledgement) {
        guard acknowledgement.base <= outbox.settled || breaks(.acknowledgementsHaveABase) else {
            needsOutcomes = true
            return
        }
        settle(upTo: acknowledgement.watermark, acknowledgement.notable)
    }

    private mutating func settle(upTo watermark: UInt64, _ notable: [NotableOutcome]) {
        guard watermark > outbox.settled else { return }
        var outcomes: [UInt64: EntryOutcome] = [:]
        for item in notable { outcomes[item.number] = item.outcome }
        let base = outbox.base
        for (number, entry) in outbox.settle(upTo: watermark) {
            settle(base + number, entry, outcomes[number] ?? .applied(.initial))
        }
        progressAt = now
        pushRebuilds = 0
        noticeRoom()
        finishIfEmpty()
        endIfEmpty()
    }

    private mutating func settle(_ number: UInt64, _ entry: Entry, _ outcome: EntryOutcome) {
        if let effect = entry.effect {
            if entry.kind != .event { finished.remove(FinishedAttempt(effect: effect, attempt: entry.attempt)) }
            // A refusal for its effect ends the attempt here too. One for the entry's own sake (its bytes) does not:
            // the reducer still counts on this attempt.
            if outcome.endsTheAttempt, running[effect]?.attempt == entry.attempt {
                cancel(effect, upTo: entry.attempt)
            }
        }
        switch outcome {
        case .refused: actions.append(.settled(number: number, outcome))
        case .applied where entry.wantsSeq: actions.append(.settled(number: number, outcome))
        case .applied: break
        }
    }

    /// The session is gone, with its history or by its own end: nothing is known of what was not settled. What a sender
    /// keeps and has never sent goes over to the next session.
    private mutating func loseSession() {
        var lost = outbox.unsettled
        if keptSettled != nil {
            lost = outbox.loseSession()
            keptSettled = 0
        } else {
            outbox = Outbox()
        }
        for (number, _) in lost { actions.append(.settled(number: number, .refused(.historyChanged))) }
        for effect in running.keys.sorted() { cancel(effect, upTo: .all) }
        finished = []
        session = .none
        epoch = .none
        needsOutcomes = false
        needsAssignments = false
        pushRebuilds = 0
        noticeRoom()
        finishIfEmpty()
        endIfEmpty()
    }

    private mutating func leave(_ history: History) {
        leftHistories.append(history)
        if leftHistories.count > 16 { leftHistories.removeFirst() }
    }

    private mutating func noticeRoom() {
        guard hadNoRoom, hasRoomForEvents else { return }
        hadNoRoom = false
        actions.append(.hasRoom)
    }

    var hasRoomForEvents: Bool {
        breaks(.outboxesAreBounded)
            || outbox.count < configuration.outboxEntriesMax - configuration.outboxEntriesReserved
                && outbox.byteCount < configuration.outboxBytesMax
    }

    private mutating func end(_ exitCode: Int32, _ text: String) {
        guard ending == nil else { return }
        for effect in running.keys.sorted() { cancel(effect, upTo: .all) }
        ending = Ending(exitCode: exitCode, text: text)
        needsOutcomes = !outbox.isEmpty
        endIfEmpty()
    }

    /// A loop that has ended is left once every outcome is known.
    private mutating func endIfEmpty() {
        guard let ending, outbox.isEmpty, stage != .over else { return }
        if session != .none { actions.append(.send(.goodbye(session))) }
        actions.append(.loopEnded(exitCode: ending.exitCode, text: ending.text))
        stage = .over
    }

    /// The reducer has ended its loop and is gone: nobody can tell any more what became of the rest.
    private mutating func endUnheard() {
        let base = outbox.base
        for (number, _) in outbox.settle(upTo: outbox.last) {
            actions.append(.settled(number: base + number, .refused(.ended)))
        }
        endIfEmpty()
    }

    func breaks(_ rule: Rule) -> Bool { brokenRules.contains(rule) }
}

extension EntryOutcome {
    /// Whether the reducer has let go of the attempt whose entry met this outcome.
    fileprivate var endsTheAttempt: Bool {
        switch self {
        case .refused(.stale), .refused(.attempt), .refused(.ended): true
        case .refused, .applied: false
        }
    }
}

extension Attempt {
    /// Not below any attempt.
    static let all = Attempt(epoch: .max, count: .max)
}

/// One attempt that runs here.
package struct RunningAttempt: Equatable, Sendable {
    package let attempt: Attempt
    package var version: Seq
}

/// One attempt that has ended here, until its last entry is settled.
struct FinishedAttempt: Hashable, Sendable {
    let effect: EffectID
    let attempt: Attempt
}
