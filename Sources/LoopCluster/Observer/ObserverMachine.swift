public import LoopCore
public import LoopWire

/// The machine that follows the state from outside: one state, then every published one once, in order (G2, G9). Each update names
/// its base, and server heartbeats name the newest seq. They show gaps, which are repaired by fetching. (Protocol, section 8.)
///
/// It consists of parts that do not know each other: the epoch that is followed, the state that was handed out, the waiting
/// updates, the requests, and the loop's end. It knows no types. What it hands out is for a ``StateFollower``, which asks it to
/// `resync` what does not fit.
public struct ObserverMachine: Sendable {
    /// The states and transitions that the observer follows. They never change.
    public let following: Following
    var followed = FollowedEpoch()
    var state = ObservedState()
    var waiting = Waiting()
    var requests: StateRequests
    var loopEnd = ObservedEnd.unheard
    /// The newest transition that was shown to people.
    var lastTransition: Seq?
    /// Whether `lastTransition` is of an earlier epoch, so that the journal may have lost it.
    var mayHaveLostTransitions = false
    var now: MonotonicTime
    var actions: [ObserverAction] = []
    package var brokenRules = BrokenRules()

    /// How long an update may take after the tick that announced it, or after its stream's interval, before it is fetched.
    private var patience: Duration { .milliseconds(150) + following.interval }

    /// Creates a machine that has no state yet. If it follows states, it asks for one at the first `advance`.
    /// - Parameters:
    ///   - following: what the observer follows.
    ///   - now: the shell's present time. Later times count from the same start.
    public init(_ following: Following, at now: MonotonicTime) {
        self.following = following
        requests = StateRequests(following)
        self.now = now
    }

    package var history: History { followed.history }
    package var epoch: Epoch { followed.epoch }

    /// The topics that the subscription must cover.
    public func topics(of loop: LoopID) -> [Topic] { following.topics(of: loop) }

    /// Whether a newer state has been known for longer than it should take to come.
    private var isLate: Bool {
        guard let outdatedSince = state.known?.outdatedSince else { return false }
        // What was published before the end has come by now, or is lost.
        return loopEnd.isHeard || now >= outdatedSince + patience
    }

    /// Whether something has to be requested.
    private var isMissingSomething: Bool { requests.isFetching || state.known == nil || state.lack != nil }

    /// How well the state that was handed out last is known.
    /// - Parameter isHeard: whether the reducer's messages come. If not, newer states may exist.
    public func standing(isHeard: Bool) -> ObserverStanding {
        let isCurrent = state.known.map { $0.lack == nil && !isLate } ?? false
        return ObserverStanding(
            state: state.seqs.map { StateID(history: history, epoch: epoch, seq: $0.upperBound) },
            isCurrent: isHeard && isCurrent)
    }

    /// Takes the actions of all inputs since the last call, in the order in which the shell performs them.
    public mutating func takeActions() -> [ObserverAction] {
        endIfDue()
        defer { actions.removeAll() }
        return actions
    }

    // MARK: Time

    /// Advances the machine's time. It asks for what is missing, and asks again for what was not answered.
    public mutating func advance(to now: MonotonicTime) {
        pass(to: now)
        guard following.hasStates else { return }
        let isLate = isLate
        if isLate, state.lack == nil, following.fingerprint != nil { state.lack = .events }
        if isMissingSomething || isLate { askIfDue() }
    }

    /// When the machine needs its next `advance`, if nothing arrives before.
    public var deadline: MonotonicTime {
        guard case .awaited(_, let limit) = loopEnd else { return requestDeadline }
        return isThere ? now : min(requestDeadline, limit)
    }

    private var requestDeadline: MonotonicTime {
        guard following.hasStates else { return MonotonicTime(nanoseconds: .max) }
        if isMissingSomething { return requests.next }
        guard let outdatedSince = state.known?.outdatedSince else { return MonotonicTime(nanoseconds: .max) }
        return loopEnd.isHeard ? requests.next : max(outdatedSince + patience, requests.next)
    }

    mutating func pass(to now: MonotonicTime) {
        guard now > self.now else { return }
        followed.pass(now - self.now)
        self.now = now
    }

    /// Fetches a state before anything else is handed out, because what was handed out does not fit.
    /// - Parameter shown: the seq of the newest state of this epoch that is still shown, or nil if there is none.
    public mutating func resync(shown: Seq?) {
        guard following.hasStates else { return }
        state.diverge(shown: shown)
        requests.diverge(at: now)
    }

    // MARK: Frames

    /// Takes a frame that was published on one of `topics(of:)`. A frame of a new history or a newer epoch makes the
    /// observer begin there. A late frame of an earlier one is dropped.
    public mutating func receivePublished(_ frame: PeerFrame, at now: MonotonicTime) {
        pass(to: now)
        guard follows(frame) else { return }
        switch frame.message {
        case .serverHeartbeat(let seq):
            endTransitions(at: seq)
            if !breaks(.ticksShowGaps) { state.notice(seq, at: self.now) }
        case .update(let seq, let bytes): show(seq, bytes)
        case .delta(let delta): take(delta)
        case .unchanged(let seqs): keep(seqs)
        case .stateHash(let seq, let hash): compare(seq, hash)
        case .transitions(let notes): if following.fingerprint != nil { take(notes) } else { show(notes) }
        case .ended(let seq, let exitCode, let text):
            end(HeardEnd(frame, at: seq, exitCode: exitCode, text: text), now: now)
        case .introduction, .joinAccepted, .commands, .acknowledgement, .tick, .assignments, .outcomes, .busy,
            .statePart, .status, .refused, .answer, .goodbyeHeard, .refusalDetails, .redirect, .noLeader:
            break
        }
    }

    /// Takes the answer to a request of this machine. An answer that does not fit any more is dropped.
    public mutating func receiveReply(_ frame: PeerFrame, at now: MonotonicTime) {
        pass(to: now)
        guard following.hasStates else { return }
        switch frame.message {
        case .statePart(let part): if follows(frame) { assemble(part) }
        case .transitions(let notes): if follows(frame) { repair(notes) }
        case .busy(let question, let retryAfter, _):
            // The answer may be of a transfer that is over.
            guard question == requests.question else { return }
            requests.endTransfer()
            requests.wait(until: self.now + ReducerTerms.pause(retryAfter))
        case .refused(let refused, let question): if question.isOfAnObserver { actions.append(.refused(refused)) }
        case .introduction, .joinAccepted, .commands, .acknowledgement, .tick, .assignments, .outcomes, .status,
            .ended, .update, .serverHeartbeat, .answer, .delta, .unchanged, .stateHash, .goodbyeHeard,
            .refusalDetails, .redirect, .noLeader:
            break
        }
    }

    /// Whether a frame is of the history and epoch that this observer follows. These may be newer ones from here on.
    private mutating func follows(_ frame: PeerFrame) -> Bool { follows(frame.history, frame.epoch) }

    mutating func follows(_ history: History, _ epoch: Epoch) -> Bool {
        switch followed.hear(history, epoch, at: now, brokenRules) {
        case .same: return true
        case .newEpoch:
            // The journal may have lost the last events that were shown. The state is fetched if it does not come by itself.
            let isKept = breaks(.epochsBeginWithAState)
            state.beginEpoch(keepingState: isKept)
            if !isKept { begin() }
            mayHaveLostTransitions = true
            if !following.dependsOnTheLast { requests.wait(until: now + patience) }
        case .other:
            state = ObservedState()
            begin()
            lastTransition = nil
        case .ignored: return false
        }
        actions.append(.begins(history, epoch))
        loopEnd.forget()
        return true
    }

    /// Drops waiting updates and transfers, because nothing may build on what was handed out.
    private mutating func begin() {
        // Each reducer process numbers its transfers from the start.
        if !breaks(.transfersEndWithTheirEpoch) { requests.endTransfer() }
        waiting.removeAll()
        if following.dependsOnTheLast { requests.wait(until: now) }
    }

    func breaks(_ rule: Rule) -> Bool { brokenRules.contains(rule) }
}
