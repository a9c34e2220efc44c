package import LoopCore
package import LoopWire

/// The machine that follows the state from outside: one state, then every published one once, in order (G2, G9). Each update names
/// its base, and server heartbeats name the newest seq. They show gaps, which are repaired by fetching. (Protocol, section 8.)
///
/// It consists of parts that do not know each other: the epoch that is followed, the state that was handed out, the waiting
/// updates, the requests, and the loop's end. It knows no types. What it hands out is for a ``StateFollower``, which asks it to
/// `resync` what does not fit.
package struct ObserverMachine: Sendable {
    /// The states and transitions that the observer follows. They never change.
    package let following: Following
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
    package init(_ following: Following, at now: MonotonicTime) {
        self.following = following
        requests = StateRequests(following)
        self.now = now
    }

    package var history: History { followed.history }
    package var epoch: Epoch { followed.epoch }

    /// The topics that the subscription must cover.
    package func topics(of loop: LoopID) -> [Topic] { following.topics(of: loop) }

    /// Whether a newer state has been known for longer than it should take to come.
    private var isLate: Bool {
        guard let outdatedSince = state.known?.outdatedSince else { return false }
        // What was published before the end has come by now, or is lost.
        return loopEnd.isHeard || now >= outdatedSince + patience
    }

    /// Whether something has to be requested.
    private var isMissingSomething: Bool { requests.isFetching || state.known == nil || state.lacksBase }

    /// How well the state that was handed out last is known.
    /// - Parameter isHeard: whether the reducer's messages come. If not, newer states may exist.
    package func standing(isHeard: Bool) -> ObserverStanding {
        let isCurrent = state.known.map { !$0.lacksBase && !isLate } ?? false
        return ObserverStanding(
            state: state.seqs.map { StateID(history: history, epoch: epoch, seq: $0.upperBound) },
            isCurrent: isHeard && isCurrent)
    }

    /// Takes the actions of all inputs since the last call, in the order in which the shell performs them.
    package mutating func takeActions() -> [ObserverAction] {
        endIfDue()
        defer { actions.removeAll() }
        return actions
    }

    // MARK: Time

    /// Advances the machine's time. It asks for what is missing, and asks again for what was not answered.
    package mutating func advance(to now: MonotonicTime) {
        pass(to: now)
        guard following.hasStates else { return }
        if isMissingSomething || isLate { askIfDue() }
    }

    /// When the machine needs its next `advance`, if nothing arrives before.
    package var deadline: MonotonicTime {
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
    package mutating func resync(shown: Seq?) {
        guard following.hasStates else { return }
        state.diverge(shown: shown)
        requests.diverge(at: now)
    }

    // MARK: Frames

    /// Takes a frame that was published on one of `topics(of:)`. A frame of a new history or a newer epoch makes the
    /// observer begin there. A late frame of an earlier one is dropped.
    package mutating func receivePublished(_ frame: PeerFrame, at now: MonotonicTime) {
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
        case .transitions(let notes): show(notes)
        case .ended(let seq, let exitCode, let text):
            end(HeardEnd(frame, at: seq, exitCode: exitCode, text: text), now: now)
        case .introduction, .joinAccepted, .commands, .acknowledgement, .tick, .assignments, .outcomes, .busy,
            .statePart, .status, .refused, .answer, .goodbyeHeard, .refusalDetails, .redirect, .noLeader:
            break
        }
    }

    /// Takes the answer to a request of this machine. An answer that does not fit any more is dropped.
    package mutating func receiveReply(_ frame: PeerFrame, at now: MonotonicTime) {
        pass(to: now)
        guard following.hasStates else { return }
        switch frame.message {
        case .statePart(let part): if follows(frame) { assemble(part) }
        case .busy(let question, let retryAfter, _):
            // The answer may be of a transfer that is over.
            guard question == requests.question else { return }
            requests.endTransfer()
            requests.wait(until: self.now + ReducerTerms.pause(retryAfter))
        case .refused(let refused, let question): if question.isOfAnObserver { actions.append(.refused(refused)) }
        case .introduction, .joinAccepted, .commands, .acknowledgement, .tick, .assignments, .outcomes, .status,
            .ended, .update, .transitions, .serverHeartbeat, .answer, .delta, .unchanged, .stateHash, .goodbyeHeard,
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

/// Requests for what does not come by itself. A state is fetched part by part.
extension ObserverMachine {
    mutating func askIfDue() { if now >= requests.next { send(requests.ask(at: now)) } }

    private mutating func send(_ messages: [ToReducer]) { for message in messages { actions.append(.send(message)) } }

    mutating func assemble(_ part: StatePart) {
        if state.isOld(part.seq) { return requests.endTransfer() }
        switch requests.take(part) {
        case .nothing: return
        case .more: break
        case .state(let seq, let bytes): return show(seq, bytes)
        case .chunk(let seq, let number, let bytes, let isLast):
            actions.append(.chunk(seq, number: number, bytes))
            if isLast { return show(seq) { .assembled(seq, isAgain: $0) } }
        }
        send(requests.askAhead(at: now))
    }
}

/// The loop's end, and when it is handed out.
extension ObserverMachine {
    /// How long the end waits for the last state. It is less than the time for which a reducer whose loop has ended waits for
    /// its peers.
    private var endLimit: Duration { .seconds(1) }

    /// Takes note that the loop has ended. The end is handed out after the last state, if that comes within a second.
    mutating func end(_ heard: HeardEnd, now: MonotonicTime) {
        pass(to: now)
        guard !loopEnd.isHeard, !followed.hasLeft(heard) else { return }
        // The peer may learn of a new epoch first, and a last seq counts only in its own epoch.
        _ = follows(heard.history, heard.epoch)
        loopEnd = .awaited(heard, by: self.now + endLimit)
        state.notice(heard.seq, at: self.now)
        advance(to: now)
    }

    /// Exchanges what is known of the end with a peer on the same connection. The peer leaves the loop only after the observer
    /// has handed out the last state. To be called before the peer's actions are taken.
    package mutating func share(with peer: inout PeerMachine, at now: MonotonicTime) {
        if let known = peer.ending { end(known, now: now) }
        if case .handedOut(let heard) = loopEnd { peer.end(heard) }
        peer.awaitsLastState = !hasEnded
        peer.endIfEmpty()
    }

    var hasEnded: Bool { if case .handedOut = loopEnd { true } else { false } }

    /// Whether the newest state that is known to exist was handed out.
    var isThere: Bool { !following.hasStates || state.isNewest }

    /// Hands out the end after the last state, and only once the state was not found to be wrong.
    mutating func endIfDue() {
        guard case .awaited(let heard, let limit) = loopEnd else { return }
        let mayEnd = actions.isEmpty && (isThere || breaks(.endsFollowTheLastState))
        guard mayEnd || now >= limit else { return }
        loopEnd = .handedOut(heard)
        actions.append(.ended(exitCode: heard.exitCode, text: heard.text))
    }
}

/// What an observer knows of the loop's end.
enum ObservedEnd: Equatable, Sendable {
    case unheard
    /// The end was received. It is handed out after the last state, and at this time at the latest.
    case awaited(HeardEnd, by: MonotonicTime)
    /// The end was handed out, which is done once and is not taken back. A last state that took longer may follow it.
    case handedOut(HeardEnd)

    var isHeard: Bool { self != .unheard }

    /// Forgets an end that was not handed out, because the journal may have lost it. If not, the reducer sends it again.
    mutating func forget() { if case .awaited = self { self = .unheard } }
}
