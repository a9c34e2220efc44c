public import LoopCore
public import LoopWire

/// Follows the state from outside: one snapshot, then every published state once, in order; gaps are noticed by the
/// common tick and repaired by fetching the state in parts (G2, G9).
///
///     unknown ── state in parts ──▶ at seq n ── update m > n ──▶ at seq m
///                     ▲                 │
///                     └── tick m > n ───┘   no update came: it was lost, or the state is too large for one message
public struct ObserverMachine: Sendable {
    private let wantsStates: Bool
    private let wantsTransitions: Bool
    package private(set) var history = History.none
    /// Histories that were followed before, the newest last: frames of them may still arrive, over older connections.
    private var left: [History] = []
    /// How long nothing of this history has come, but for times in which this process stood still.
    private var silence = Duration.zero
    package private(set) var epoch = Epoch.none
    /// An epoch of a known history that is heard while the present one is silent, since when, and in how many frames.
    private var knock: (origin: (history: History, epoch: Epoch), since: MonotonicTime, count: Int)?
    /// The seq of the state that was last handed out; nil before the first.
    private var seq: Seq?
    /// The newest seq that is known to exist.
    private var newest = Seq.initial
    /// Since when a newer state is known and did not come by itself.
    private var behindSince: MonotonicTime?
    private var transfer: (id: UInt64, seq: Seq, total: UInt64, bytes: [UInt8])?
    private var nextRequest = MonotonicTime.zero
    private var lastTransition: Seq?
    private var now: MonotonicTime
    private var actions: [ObserverAction] = []
    package var brokenRules = BrokenRules()

    /// How long an update may take after the tick that announced it, before it is fetched.
    private let patience = Duration.milliseconds(150)
    private let repeatInterval = Duration.milliseconds(300)
    /// After so long a silence a history that was left may be the present one again: that of a journal that was put back.
    private let silenceLimit = Duration.seconds(10)
    private let knockLimit = Duration.seconds(5)
    /// A reducer ticks at least every second.
    private let knocksMin = 8

    public init(states: Bool, transitions: Bool, at now: MonotonicTime) {
        wantsStates = states
        wantsTransitions = transitions
        self.now = now
    }

    /// What the subscription must cover.
    public func topics(of loop: LoopID) -> [Topic] {
        (wantsStates ? [.updates(loop)] : []) + (wantsTransitions ? [.transitions(loop)] : []) + [.tick(loop)]
    }

    /// Whether a newer state is known for longer than it should take to come.
    private var isLate: Bool { behindSince.map { now >= $0 + patience } ?? false }

    /// How the state that was handed out last stands to what is known.
    /// - Parameter isHeard: whether the reducer is heard; where it is not, newer states may exist.
    public func standing(isHeard: Bool) -> ObserverStanding {
        ObserverStanding(seq: seq, isCurrent: isHeard && seq != nil && !isLate)
    }

    public mutating func takeActions() -> [ObserverAction] {
        defer { actions.removeAll() }
        return actions
    }

    public var deadline: MonotonicTime {
        guard wantsStates else { return MonotonicTime(nanoseconds: .max) }
        if transfer != nil || seq == nil { return nextRequest }
        if let behindSince { return max(behindSince + patience, nextRequest) }
        return MonotonicTime(nanoseconds: .max)
    }

    public mutating func advance(to now: MonotonicTime) {
        pass(to: now)
        guard wantsStates, self.now >= nextRequest else { return }
        if transfer != nil || seq == nil || isLate { request() }
    }

    private mutating func request() {
        nextRequest = now + repeatInterval
        let (id, offset) = transfer.map { ($0.id, UInt64($0.bytes.count)) } ?? (0, 0)
        actions.append(.send(.stateRequest(transfer: id, offset: offset)))
    }

    public mutating func receivePublished(_ frame: PeerFrame, at now: MonotonicTime) {
        pass(to: now)
        guard follows(frame) else { return }
        switch frame.message {
        case .commonTick(let seq): notice(seq)
        case .update(let seq, let state): show(seq, state)
        case .transitions(let notes): show(notes)
        case .ended(let exitCode, let text): actions.append(.ended(exitCode: exitCode, text: text))
        default: break
        }
    }

    public mutating func receiveReply(_ frame: PeerFrame, at now: MonotonicTime) {
        pass(to: now)
        guard wantsStates else { return }
        switch frame.message {
        case .statePart(let part):
            if follows(frame) { assemble(part) }
        case .busy(let retryAfter):
            transfer = nil
            nextRequest = self.now + retryAfter
        default: break
        }
    }

    private mutating func pass(to now: MonotonicTime) {
        guard now > self.now else { return }
        silence += min(now - self.now, .seconds(1))
        self.now = now
    }

    /// Whether a frame is of the history and epoch that this observer follows, which may be newer ones from here on.
    private mutating func follows(_ frame: PeerFrame) -> Bool {
        if frame.history == history && (frame.epoch.number >= epoch.number || breaks(.olderEpochsAreDropped)) {
            // Transfers are numbered by each reducer process for itself.
            if frame.epoch != epoch && !breaks(.transfersEndWithTheirEpoch) { transfer = nil }
            epoch = frame.epoch
        } else {
            guard mayFollow(frame) else { return false }
            if frame.history != history { leave() }
            history = frame.history
            epoch = frame.epoch
            seq = nil
            newest = .initial
            behindSince = nil
            transfer = nil
            lastTransition = nil
        }
        silence = .zero
        knock = nil
        return true
    }

    /// Whether another history, or an older epoch, may be followed from here on. What is known comes back if nothing else is
    /// heard for long, and it goes on and on: a journal was put back, or what was followed is a late frame of a history that
    /// was over before this observer began.
    private mutating func mayFollow(_ frame: PeerFrame) -> Bool {
        let isKnown = frame.history == history || left.contains(frame.history)
        if !isKnown || breaks(.leftHistoriesStayLeft) { return true }
        guard silence >= silenceLimit else { return false }
        let origin = (history: frame.history, epoch: frame.epoch)
        guard let known = knock, known.origin == origin else {
            knock = (origin, now, count: 1)
            return false
        }
        knock?.count += 1
        return known.count + 1 >= knocksMin && now >= known.since + knockLimit
    }

    private mutating func leave() {
        guard history != .none, !left.contains(history) else { return }
        left = left.suffix(7) + [history]
    }

    private func breaks(_ rule: Rule) -> Bool { brokenRules.contains(rule) }

    private mutating func notice(_ seq: Seq) {
        guard !breaks(.ticksShowGaps) else { return }
        newest = max(newest, seq)
        if let known = self.seq, known >= newest {
            behindSince = nil
        } else if behindSince == nil {
            behindSince = now
        }
    }

    private mutating func show(_ seq: Seq, _ state: [UInt8]) {
        newest = max(newest, seq)
        if let known = self.seq, seq <= known { return }
        self.seq = seq
        behindSince = seq >= newest ? nil : now
        transfer = nil
        actions.append(.state(seq, state))
    }

    private mutating func assemble(_ part: StatePart) {
        if let known = seq, part.seq <= known {
            transfer = nil
            return
        }
        if transfer == nil || transfer?.id != part.transfer {
            guard part.offset == 0 else { return }
            transfer = (part.transfer, part.seq, part.total, [])
        }
        guard let begun = transfer, UInt64(begun.bytes.count) == part.offset else { return }
        transfer?.bytes += part.bytes
        if UInt64(begun.bytes.count + part.bytes.count) == begun.total {
            show(begun.seq, begun.bytes + part.bytes)
        } else {
            request()
        }
    }

    private mutating func show(_ notes: [TransitionNote]) {
        guard wantsTransitions, let first = notes.first, let last = notes.last else { return }
        // Behind `known` there is a next one, whatever number the reducer gave it.
        if let known = lastTransition, first.seq > known, first.seq > known.next {
            actions.append(.missed(known.next...Seq(first.seq.value - 1)))
        }
        let new = notes.filter { $0.seq > lastTransition ?? .initial }
        lastTransition = max(lastTransition ?? .initial, last.seq)
        if !new.isEmpty { actions.append(.transitions(new)) }
    }
}

/// How well an observer knows the state.
public struct ObserverStanding: Equatable, Sendable {
    /// The seq of the newest state that it has; nil before the first.
    public var seq: Seq?
    /// Whether no newer state is known to exist, by a reducer that is heard.
    public var isCurrent: Bool

    public init(seq: Seq? = nil, isCurrent: Bool = false) {
        self.seq = seq
        self.isCurrent = isCurrent
    }
}

/// What an observer's machine asks of its shell.
public enum ObserverAction: Equatable, Sendable {
    /// Over DEALER.
    case send(ToReducer)
    /// A newer state, encoded.
    case state(Seq, [UInt8])
    case transitions([TransitionNote])
    /// Transitions that were lost on the way; the states are not.
    case missed(ClosedRange<Seq>)
    case ended(exitCode: Int32, text: String)
    /// How well the state is known, where that has changed; from the shell.
    case standing(ObserverStanding)
}
