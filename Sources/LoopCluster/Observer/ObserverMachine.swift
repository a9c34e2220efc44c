public import LoopCore
public import LoopWire

/// Follows the state from outside: one state, then every published one once, in order; gaps are noticed by what an update
/// says that it builds on, and by the server heartbeat, and repaired by fetching (G2, G9). (Protocol, section 8.)
///
///     unknown ── state in parts ──▶ at seq n ── update m > n ──▶ at seq m
///        ▲                            │  ▲
///        │                            │  └── what was missing: events, or the state in parts
///        │                            └───── a gap, or a tick m > n and no update: lost, or too large for one message
///        └── a new epoch, a hash that differs, where a state is made of the one before
///
/// It knows no types: what it hands out is for a ``StateFollower``, which asks it to `resync` what does not fit.
public struct ObserverMachine: Sendable {
    /// The states and transitions that the observer follows; the same for the machine's life.
    public let following: Following
    package internal(set) var history = History.none
    /// Histories that were followed before, the newest last: frames of them may still arrive, over older connections.
    var left: [History] = []
    /// How long nothing of this history has come, but for times in which this process stood still.
    var silence = Duration.zero
    package internal(set) var epoch = Epoch.none
    /// An epoch of a known history that is heard while the present one is silent, since when, and in how many frames.
    var knock: (origin: (history: History, epoch: Epoch), since: MonotonicTime, count: Int)?
    /// The seqs at all of which the state is the one that was handed out last; nil: one is to be fetched.
    var content: ClosedRange<Seq>?
    /// The newest seq that was handed out in this history: no older one follows.
    var shown: Seq?
    /// The newest seq that is known to exist.
    var newest = Seq.initial
    /// Since when a newer state is known and did not come by itself.
    var behindSince: MonotonicTime?
    /// What has to be fetched before what is waiting can be used.
    var lack: Lack?
    var waiting = Waiting()
    var fetch: StateFetch?
    /// How a state is asked for: whole, once what was made of chunks has proved wrong.
    var form: StateForm
    /// Whether what was handed out last as a whole state came in chunks.
    var cameInChunks = false
    var nextRequest = MonotonicTime.zero
    /// The newest hash that was handed out: it comes again with each tick.
    var hash: (seq: Seq, value: UInt64)?
    /// When what was handed out proved to be wrong.
    private var divergedAt: MonotonicTime?
    var lastTransition: Seq?
    /// The loop has ended: what is handed out once the last state was, and when at the latest.
    var ending: (heard: HeardEnd, by: MonotonicTime)?
    /// Whether the end was handed out, which is done once. Where the last state took longer than the end waits for it, that
    /// follows behind the end.
    var hasEnded = false
    var now: MonotonicTime
    var actions: [ObserverAction] = []
    package var brokenRules = BrokenRules()

    enum Lack { case state, events }

    /// How long an update may take after the tick that announced it, or after its stream's interval, before it is fetched.
    var patience: Duration { .milliseconds(150) }
    /// A state that proves wrong twice within this time is not fetched at once.
    private var divergenceLimit: Duration { .seconds(10) }
    private var resyncPause: Duration { .seconds(5) }

    /// Creates a machine that has no state yet. Where it follows states, it asks for one at the first `advance`.
    /// - Parameter now: the shell's present time. The times of later calls count from the same start.
    public init(_ following: Following, at now: MonotonicTime) {
        self.following = following
        self.now = now
        // Who shows every state as it comes may leave it encoded until somebody looks.
        form = following.dependsOnTheLast ? .chunks : .whole
    }

    /// What the subscription must cover.
    public func topics(of loop: LoopID) -> [Topic] { following.topics(of: loop) }

    /// Whether a newer state is known for longer than it should take to come.
    private var isLate: Bool {
        guard let behindSince else { return false }
        // What was published before the end has come, or is lost.
        return ending != nil || now >= behindSince + patience + following.interval
    }

    /// How the state that was handed out last stands to what is known.
    /// - Parameter isHeard: whether the reducer is heard; where it is not, newer states may exist.
    public func standing(isHeard: Bool) -> ObserverStanding {
        ObserverStanding(seq: shown, isCurrent: isHeard && content != nil && lack == nil && !isLate)
    }

    /// Takes the actions of all inputs since the last call, in the order in which the shell performs them.
    public mutating func takeActions() -> [ObserverAction] {
        endIfDue()
        defer { actions.removeAll() }
        return actions
    }

    /// Tells the machine the time. It asks for what is missing, and asks again for what was not answered.
    public mutating func advance(to now: MonotonicTime) {
        pass(to: now)
        guard following.hasStates else { return }
        if lack == nil, content != nil, isLate, following.fingerprint != nil { lack = .events }
        if fetch != nil || content == nil || lack != nil || isLate { askIfDue() }
    }

    /// When the machine wants to be told the time, if nothing arrives before.
    public var deadline: MonotonicTime {
        guard let ending, !hasEnded else { return fetchDeadline }
        return isThere ? now : min(fetchDeadline, ending.by)
    }

    /// What was handed out does not fit: a state is to be fetched before anything else is handed out.
    /// - Parameter shown: the seq of the newest state that is shown nevertheless.
    public mutating func resync(shown: Seq?) {
        guard following.hasStates else { return }
        self.shown = shown
        if cameInChunks { form = .whole }
        forgetState()
        let isUsual = divergedAt.map { now - $0 < divergenceLimit } ?? false
        nextRequest = isUsual ? now + resyncPause : now
        divergedAt = now
    }

    mutating func forgetState() {
        content = nil
        fetch = nil
        lack = nil
        hash = nil
    }

    /// Takes a frame that was published on one of `topics(of:)`. A frame of a new history or a newer epoch makes the
    /// observer begin there. A late frame of an earlier one is dropped.
    public mutating func receivePublished(_ frame: PeerFrame, at now: MonotonicTime) {
        pass(to: now)
        guard follows(frame) else { return }
        switch frame.message {
        case .serverHeartbeat(let seq): notice(seq)
        case .update(let seq, let state): show(seq, state)
        case .delta(let delta): take(delta)
        case .unchanged(let seqs): keep(seqs)
        case .stateHash(let seq, let hash): compare(seq, hash)
        case .transitions(let notes): if following.fingerprint != nil { take(notes) } else { show(notes) }
        case .ended(let seq, let exitCode, let text):
            end(HeardEnd(frame, at: seq, exitCode: exitCode, text: text), now: now)
        case .introduction, .joinAccepted, .commands, .acknowledgement, .tick, .assignments, .outcomes, .busy,
            .statePart, .status, .refused, .answer, .goodbyeHeard:
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
        case .busy(let retryAfter, _):
            fetch = nil
            nextRequest = self.now + retryAfter
        case .refused(let refused):
            if refused.what == .section || refused.what == .definition && following.fingerprint != nil {
                actions.append(.refused(refused))
            }
        case .introduction, .joinAccepted, .commands, .acknowledgement, .tick, .assignments, .outcomes, .status,
            .ended, .update, .serverHeartbeat, .answer, .delta, .unchanged, .stateHash, .goodbyeHeard:
            break
        }
    }

    mutating func pass(to now: MonotonicTime) {
        guard now > self.now else { return }
        silence += min(now - self.now, .seconds(1))
        self.now = now
    }

    func breaks(_ rule: Rule) -> Bool { brokenRules.contains(rule) }
}
