package import LoopCollections
package import LoopCore
package import LoopWire

/// A worker's or a sender's side of the protocol, without sockets, clocks, threads or randomness.
///
/// It consists of parts that do not know each other. It hands each frame, and each run of entries, to the parts that it concerns.
///
///     frames ──▶ membership ──▶ phase ──▶ inbox ──▶ attempts ──▶ run, update, stop
///                                 └─────▶ delivery ──▶ settled         ▲
///     entries ─────────────────────────────▲───────────────────────────┘
///
/// Effects continue through all phases. Only the reducer's command, or another history, ends them (protocol, sections 5 and 6).
/// Actions wait in order until the shell takes them.
package struct PeerMachine: Sendable {
    /// The peer's configuration. Its ID changes if another process uses the peer's session.
    package internal(set) var configuration: PeerConfiguration
    package var brokenRules = BrokenRules()

    var phase: PeerPhase
    var search: LeaderSearch
    var membership = Membership()
    var delivery: Delivery
    var inbox = PeerInbox()
    var attempts = HeldAttempts()
    var progress = ProgressReports()
    var details = HeardDetails()

    /// The peer's loop. A tool that works with any loop learns it from the introduction.
    package internal(set) var loop: LoopID
    /// The largest event that the reducer takes, by its introduction.
    var eventBytesMax = Int.max
    var terms = ReducerTerms()
    /// Why the reducer keeps this peer waiting, or nil if it does not, or has not said why.
    package internal(set) var busyReason: String?

    /// Whether it was asked to stop. What it has is then handed back.
    var isStopping = false
    /// The loop's end, if it has ended. Then the peer only learns the outcomes of its outbox.
    var ending: HeardEnd?
    /// Whether an observer on the same connection still waits for the last state.
    var awaitsLastState = false

    var now: MonotonicTime
    var heardAt: MonotonicTime
    /// When the only address is dialled again if no greeting is answered.
    var redialsAt: MonotonicTime
    /// When the oldest unanswered question was asked over DEALER, or nil if each has an answer.
    var askedAt: MonotonicTime?
    /// When the next request for what is missing may be sent.
    private var nextRequest = MonotonicTime.zero
    var actions: [PeerAction] = []
    /// How many frames were not of this peer's present session, epoch or history.
    package internal(set) var droppedCount: UInt64 = 0
    /// How often the peer has lost its reducer after it had joined, by the cause.
    package private(set) var contactLosses: [ContactLoss: UInt64] = [:]

    /// Creates a peer without a session, which begins to join at the first `advance`.
    /// - Parameters:
    ///   - configuration: the peer's loop, capacity and limits.
    ///   - now: the shell's present time. Later times count from the same start.
    package init(configuration: PeerConfiguration, at now: MonotonicTime) {
        self.configuration = configuration
        loop = LoopID(name: configuration.loop)
        phase = .introducing(next: .zero)
        search = LeaderSearch(configuration.places, seed: configuration.peer.high ^ configuration.peer.low)
        search.greet(from: now)
        delivery = Delivery(configuration)
        self.now = now
        heardAt = now
        redialsAt = now + ReducerTerms().silenceLimit
    }

    /// Creates a sender that continues the stream of an earlier process, as the same peer in the same session. It claims nothing.
    ///
    /// After every input, the shell stores the changes of ``stream(after:)``, and calls ``kept(settled:)``. It does so before
    /// it performs any action and pushes any batch.
    package init(configuration: PeerConfiguration, resuming stream: PeerStream, at now: MonotonicTime) {
        self.init(configuration: configuration, continuing: stream, at: now)
        delivery.kept(settled: stream.settled)
    }

    /// Creates a peer that continues the session of an earlier one, whose unsent entries are gone. Its stream is not kept for a
    /// later process.
    package init(configuration: PeerConfiguration, continuing stream: PeerStream, at now: MonotonicTime) {
        self.init(configuration: configuration, at: now)
        membership = Membership(stream)
        delivery.resume(stream)
    }

    // MARK: Properties

    /// The history to which the peer was last admitted, or `.none` before the first time.
    package var history: History { membership.history }
    /// The epoch in which the peer was last admitted to its session, or `.none` without a session.
    package var epoch: Epoch { membership.epoch }
    /// The session that numbers the peer's entries, or `.none` before it has one.
    package var session: SessionID { membership.session }
    package var outbox: Outbox { delivery.outbox }
    package var running: HashTable<EffectID, RunningAttempt> { attempts.running }
    package func entry(_ number: UInt64) -> Entry? { outbox.entry(number) }

    /// The number of the newest entry, as its sender counts.
    package var lastNumber: UInt64 { outbox.base + outbox.last }
    /// The number up to which the outcomes are known, as the sender counts.
    package var settledNumber: UInt64 { outbox.base + outbox.settled }

    /// The stream to be kept, with the entries above this number, as their sender counts.
    package func stream(after number: UInt64) -> PeerStream {
        var stream = PeerStream()
        // The goodbye ends the session, and the reducer may read it long after. No later process continues this session.
        if outbox.isEmpty, isOver || phase.hasLeft && !breaks(.sessionsEndWithTheGoodbye) {
            stream.base = outbox.base + outbox.last
            return stream
        }
        (stream.history, stream.epoch, stream.session) = (history, epoch, session)
        (stream.base, stream.settled) = (outbox.base, outbox.settled)
        // A joined peer may push all entries.
        stream.offered = isJoined ? outbox.last : outbox.offered
        stream.entries = outbox.entries(after: number > outbox.base ? number - outbox.base : 0)
        return stream
    }

    /// Takes note that the stream is on disk with outcomes up to this number of the session.
    package mutating func kept(settled: UInt64) { delivery.kept(settled: settled) }

    /// Whether the peer has joined in this epoch, so that it sends batches and gets commands.
    package var isJoined: Bool { phase.isJoined }
    /// Whether nothing more happens: the peer was refused, the loop has ended, or the peer has left.
    package var isOver: Bool { phase.isOver }

    /// The name of an effect's feedback, or nil if the reducer has not named it.
    package func feedbackName(of effect: EffectID) -> String? {
        effect.feedback < terms.feedbacks.count ? terms.feedbacks[Int(effect.feedback)] : nil
    }

    /// Takes the actions of all inputs since the last call, in order.
    package mutating func takeActions() -> [PeerAction] {
        if actions.isEmpty { return [] }
        defer { actions.removeAll(keepingCapacity: true) }
        return actions
    }

    // MARK: Time

    /// When the machine needs its next `advance`, if nothing arrives before.
    package var deadline: MonotonicTime {
        switch phase {
        case .introducing, .joining, .claiming, .over: phase.next
        case .joined: isMissingSomething ? min(phase.next, nextRequest) : phase.next
        case .leaving(let next, let limit): min(next, limit)
        }
    }

    /// The earlier deadline of this machine and of an observer on the same connection. Once the observer has handed out the
    /// end, the peer leaves the loop at once.
    package func deadline(with observer: ObserverMachine) -> MonotonicTime {
        if ending != nil, awaitsLastState, observer.hasEnded { return now }
        return min(deadline, observer.deadline)
    }

    /// Advances the machine's time. It repeats what was not answered, and notices silence.
    package mutating func advance(to now: MonotonicTime) {
        self.now = max(self.now, now)
        noticeSilence()
        if isStopping { handBack() }
        switch phase {
        case .introducing: greetIfDue()
        case .joining: if isDue { ask(.join(joinRequest)) }
        case .claiming: if isDue { claim() }
        case .joined:
            heartbeatIfDue()
            requestIfDue()
            resendIfStuck()
        case .leaving: leave()
        case .over: break
        }
    }

    /// Asks the reducer again, because its other sockets are not at the addresses that it named.
    package mutating func couldNotConnect() {
        guard case .joining = phase else { return }
        if !search.isFixed { return moveOn() }
        phase = .introducing(next: now + .seconds(1))
    }

    /// Repeats at once what was sent over DEALER while there was no connection.
    package mutating func hasConnected() {
        phase.next = now
        nextRequest = now
    }

    /// Greets the reducer again, because the shell has replaced the connection to it. The answer also names the reducer's other
    /// sockets.
    package mutating func hasRedialled() {
        if case .introducing = phase { return }
        if phase.hasLeft { return }
        lose(.redialled)
        greetAgain()
    }

    /// How long a greeting is repeated over one connection.
    var redialInterval: Duration { max(terms.silenceLimit, .seconds(1)) }

    private mutating func greetAgain() {
        askedAt = nil
        redialsAt = now + redialInterval
        phase = .introducing(next: now)
        search.greet(from: now)
    }

    /// Makes new connections and a new join request after silence. Without a sign of life for the limit, the subscription may
    /// be dead. Without an answer, the DEALER connection may be.
    private mutating func noticeSilence() {
        let isSilent = now - heardAt > terms.silenceLimit
        guard !phase.hasLeft, !breaks(.silenceIsNoticed), isSilent || isUnanswered else { return }
        // An observer that waits for the last state knows of something newer.
        if isSilent, ending != nil, !awaitsLastState { return endUnheard() }
        if case .introducing = phase { return }
        lose(isSilent ? .silence : .noAnswer)
        if !search.isFixed { return moveOn() }
        heardAt = now
        greetAgain()
    }

    /// Counts that a joined peer loses its reducer. The phase must change next.
    mutating func lose(_ cause: ContactLoss) { if phase.isJoined { contactLosses[cause, default: 0] += 1 } }

    /// Whether a question over DEALER has had no answer for the limit.
    private var isUnanswered: Bool { askedAt.map { now - $0 > redialInterval } ?? false }

    /// Sends the question of this phase, which is repeated.
    private mutating func ask(_ question: ToReducer) {
        askedAt = askedAt ?? now
        step(question)
    }

    /// Whether the message of this phase is due.
    var isDue: Bool { now >= phase.next }

    /// Sends the message of this phase, which is repeated.
    mutating func step(_ message: ToReducer) {
        phase.next = now + configuration.repeatInterval
        actions.append(.send(message))
    }

    private mutating func greetIfDue() {
        if search.isOver(at: now) { moveOn() }
        // The connection may be dead. With several addresses the search dials the next one anyway.
        if search.isFixed, now > redialsAt, !breaks(.deadConnectionsAreReplaced) {
            redialsAt = now + redialInterval
            actions.append(.redial)
        }
        guard isDue else { return }
        step(.hello(name: configuration.loop, schema: configuration.schema))
        if let leavesAt = search.leavesAt { phase.next = min(phase.next, leavesAt) }
    }

    /// Sends a whole claim. A large one is repeated less often.
    private mutating func claim() {
        askedAt = askedAt ?? now
        let parts = attempts.nextClaim(bytesMax: configuration.payloadBytesMax, brokenRules)
        phase.next = now + configuration.repeatInterval * min(parts.count, 5)
        for part in parts { actions.append(.send(.claim(session, epoch, part))) }
    }

    private mutating func heartbeatIfDue() {
        let isTimely = isDue
        guard isTimely || inbox.isReportDue else { return }
        phase.next = now + terms.tickInterval
        inbox.report()
        let heartbeat = Heartbeat(
            session: session, epoch: epoch, echo: inbox.echo, applied: inbox.applied,
            settled: delivery.settledForGood, capacity: capacity)
        actions.append(.send(.heartbeat(heartbeat)))
        if isTimely, !progress.isEmpty { tellProgress() }
    }

    private mutating func tellProgress() {
        let attempts = attempts
        for part in progress.take(bytesMax: configuration.payloadBytesMax, runs: { attempts.runs($0, $1) }) {
            actions.append(.send(.progress(session, epoch, part)))
        }
    }

    private var isMissingSomething: Bool { phase.needsAssignments || delivery.needsOutcomes }

    private mutating func requestIfDue() {
        guard isMissingSomething else {
            askedAt = nil
            return
        }
        guard now >= nextRequest else { return }
        askedAt = askedAt ?? now
        nextRequest = now + configuration.repeatInterval
        if phase.needsAssignments { actions.append(.send(.assignmentsRequest(session, epoch))) }
        if delivery.needsOutcomes { actions.append(.send(.outcomesRequest(session, after: delivery.settledForGood))) }
    }

    private mutating func resendIfStuck() {
        switch delivery.remedy(at: now, after: terms.silenceLimit) {
        case .newSocket: actions.append(.rebuildPush)
        case .newSession:
            // The reducer ends the session, and answers the next join request with a new one. Until then, this session
            // continues, because the goodbye may get lost and no number may be used twice.
            actions.append(.send(goodbye))
            lose(.unread)
            greetAgain()
        case nil: break
        }
    }

    private var joinRequest: JoinRequest {
        JoinRequest(
            peer: configuration.peer, session: session, history: history, epoch: epoch, watermark: outbox.settled,
            schema: configuration.schema, fingerprint: configuration.fingerprint, capacity: capacity,
            groups: configuration.groups, name: configuration.name.cut(to: Wire.nameBytesMax),
            feedbacks: configuration.feedbacks)
    }

    var goodbye: ToReducer { .goodbye(session, configuration.peer, history) }

    /// It never exceeds the outbox's space for the ends of effects. A worker that cannot send takes no more work.
    private var capacity: UInt32 {
        isStopping || ending != nil
            ? 0 : UInt32(clamping: min(configuration.capacity, configuration.outboxEntriesMax - outbox.count))
    }

    func breaks(_ rule: Rule) -> Bool { brokenRules.contains(rule) }
}

extension String {
    /// The longest prefix that fits.
    /// - Parameter bytesMax: the limit in bytes of UTF-8.
    fileprivate func cut(to bytesMax: Int) -> String {
        var text = String(prefix(bytesMax))
        while text.utf8.count > bytesMax { text.removeLast() }
        return text
    }
}
