public import LoopCore
public import LoopWire

/// Follows the state from outside: one state, then every published one once, in order; gaps are noticed by what an update
/// says that it builds on, and by the common tick, and repaired by fetching (G2, G9). (Protocol, section 8.)
///
///     unknown ── state in parts ──▶ at seq n ── update m > n ──▶ at seq m
///        ▲                            │  ▲
///        │                            │  └── what was missing: events, or the state in parts
///        │                            └───── a gap, or a tick m > n and no update: lost, or too large for one message
///        └── a new epoch, a hash that differs, where a state is made of the one before
///
/// It knows no types: what it hands out is for a ``StateFollower``, which asks it to `distrust` what does not fit.
public struct ObserverMachine: Sendable {
    public let following: Following
    package private(set) var history = History.none
    /// Histories that were followed before, the newest last: frames of them may still arrive, over older connections.
    private var left: [History] = []
    /// How long nothing of this history has come, but for times in which this process stood still.
    private var silence = Duration.zero
    package private(set) var epoch = Epoch.none
    /// An epoch of a known history that is heard while the present one is silent, since when, and in how many frames.
    private var knock: (origin: (history: History, epoch: Epoch), since: MonotonicTime, count: Int)?
    /// The seqs at all of which the state is the one that was handed out last; nil: one is to be fetched.
    private var content: ClosedRange<Seq>?
    /// The newest seq that was handed out in this history: no older one follows.
    private var shown: Seq?
    /// The newest seq that is known to exist.
    private var newest = Seq.initial
    /// Since when a newer state is known and did not come by itself.
    private var behindSince: MonotonicTime?
    /// What has to be fetched before what is waiting can be used.
    private var lack: Lack?
    private var waiting = Waiting()
    private var fetch: StateFetch?
    /// How a state is asked for: whole, once what was made of pieces has proved wrong.
    private var form: StateForm
    /// Whether what was handed out last as a whole state came in pieces.
    private var cameInPieces = false
    private var nextRequest = MonotonicTime.zero
    /// The newest hash that was handed out: it comes again with each tick.
    private var hash: (seq: Seq, value: UInt64)?
    /// When what was handed out proved to be wrong.
    private var doubtedAt: MonotonicTime?
    private var lastTransition: Seq?
    /// The loop has ended: what is handed out once the last state was, and when at the latest.
    private(set) var ending: (heard: HeardEnd, by: MonotonicTime)?
    /// Whether the end was handed out: nothing follows it.
    private(set) var hasEnded = false
    private var now: MonotonicTime
    private var actions: [ObserverAction] = []
    package var brokenRules = BrokenRules()

    private enum Lack { case state, events }

    /// How many bytes of differences may wait for a state, however large it is.
    private let waitingBytesMax = 256 << 20
    /// How long an update may take after the tick that announced it, or after its stream's interval, before it is fetched.
    private let patience = Duration.milliseconds(150)
    private let repeatInterval = Duration.milliseconds(300)
    /// After so long a silence a history that was left may be the present one again: that of a journal that was put back.
    private let silenceLimit = Duration.seconds(10)
    private let knockLimit = Duration.seconds(5)
    /// A reducer ticks at least every second.
    private let knocksMin = 8
    /// A state that proves wrong twice within this time is not fetched at once.
    private let doubtLimit = Duration.seconds(10)
    private let doubtPause = Duration.seconds(5)
    /// How long the end waits for the last state: less than the reducer of a loop that has ended waits for who leaves.
    private let endLimit = Duration.seconds(1)

    public init(_ following: Following, at now: MonotonicTime) {
        self.following = following
        self.now = now
        // Who shows every state as it comes may leave it encoded until somebody looks.
        form = following.dependsOnTheLast ? .pieces : .whole
    }

    /// What the subscription must cover.
    public func topics(of loop: LoopID) -> [Topic] { following.topics(of: loop) }

    /// Whether a newer state is known for longer than it should take to come.
    private var isLate: Bool {
        guard let behindSince else { return false }
        // What was published before the end has come, or is lost.
        return ending != nil || now >= behindSince + patience + following.interval
    }

    /// Whether the newest state that is known to exist was handed out.
    private var isThere: Bool {
        !following.hasStates || content.map { $0.upperBound >= newest } ?? false && lack == nil
    }

    /// How the state that was handed out last stands to what is known.
    /// - Parameter isHeard: whether the reducer is heard; where it is not, newer states may exist.
    public func standing(isHeard: Bool) -> ObserverStanding {
        ObserverStanding(seq: shown, isCurrent: isHeard && content != nil && lack == nil && !isLate)
    }

    public mutating func takeActions() -> [ObserverAction] {
        // Behind the last state, and only once nobody has found that it does not fit.
        let mayEnd = actions.isEmpty && (isThere || breaks(.endsFollowTheLastState))
        if let ending, !hasEnded, mayEnd || now >= ending.by {
            hasEnded = true
            actions.append(.ended(exitCode: ending.heard.exitCode, text: ending.heard.text))
        }
        defer { actions.removeAll() }
        return actions
    }

    /// The loop has ended. This is handed out behind its last state, where that can be had within a second.
    mutating func end(_ heard: HeardEnd, now: MonotonicTime) {
        pass(to: now)
        // A peer on the same connection may know of a newer epoch, or of an older one.
        let isOlder = heard.history == history ? heard.epoch.number < epoch.number : left.contains(heard.history)
        guard ending == nil, !isOlder else { return }
        ending = (heard, by: self.now + endLimit)
        newest = max(newest, heard.seq)
        review()
        advance(to: now)
    }

    public var deadline: MonotonicTime {
        guard let ending, !hasEnded else { return fetchDeadline }
        return isThere ? now : min(fetchDeadline, ending.by)
    }

    private var fetchDeadline: MonotonicTime {
        guard following.hasStates else { return MonotonicTime(nanoseconds: .max) }
        if fetch != nil || content == nil || lack != nil { return nextRequest }
        if let behindSince {
            return ending == nil ? max(behindSince + patience + following.interval, nextRequest) : nextRequest
        }
        return MonotonicTime(nanoseconds: .max)
    }

    public mutating func advance(to now: MonotonicTime) {
        pass(to: now)
        guard following.hasStates else { return }
        if lack == nil, content != nil, isLate, following.fingerprint != nil { lack = .events }
        if fetch != nil || content == nil || lack != nil || isLate { askIfDue() }
    }

    /// What was handed out does not fit: a state is to be fetched before anything else is handed out.
    /// - Parameter shown: the seq of the newest state that is shown nevertheless.
    public mutating func distrust(shown: Seq?) {
        guard following.hasStates else { return }
        self.shown = shown
        if cameInPieces { form = .whole }
        forgetState()
        let isUsual = doubtedAt.map { now - $0 < doubtLimit } ?? false
        nextRequest = isUsual ? now + doubtPause : now
        doubtedAt = now
    }

    private mutating func forgetState() {
        content = nil
        fetch = nil
        lack = nil
        hash = nil
    }

    private mutating func askIfDue() { if now >= nextRequest { ask() } }

    private mutating func ask() {
        nextRequest = now + repeatInterval
        if lack == .events, fetch == nil, let content, let fingerprint = following.fingerprint {
            return actions.append(
                .send(.transitionsRequest(fingerprint: fingerprint, after: content.upperBound)))
        }
        guard fetch != nil else { return askForPart(0, of: 0) }
        fetch?.askAnew()
        askAhead()
    }

    private mutating func askForPart(_ part: UInt64, of transfer: UInt64) {
        actions.append(
            .send(
                .stateRequest(
                    transfer: transfer, part: part, form: form, section: following.section,
                    differences: following.differences)))
    }

    private mutating func askAhead() {
        nextRequest = now + repeatInterval
        guard let id = fetch?.id, let parts = fetch?.ahead() else { return }
        for part in parts { askForPart(part, of: id) }
    }

    public mutating func receivePublished(_ frame: PeerFrame, at now: MonotonicTime) {
        pass(to: now)
        guard follows(frame) else { return }
        switch frame.message {
        case .commonTick(let seq): notice(seq)
        case .update(let seq, let state): show(seq, state)
        case .delta(let delta): take(delta)
        case .unchanged(let seqs): keep(seqs)
        case .stateHash(let seq, let hash): compare(seq, hash)
        case .transitions(let notes): if following.fingerprint != nil { take(notes) } else { show(notes) }
        case .ended(let seq, let exitCode, let text):
            end(HeardEnd(frame, at: seq, exitCode: exitCode, text: text), now: now)
        default: break
        }
    }

    public mutating func receiveReply(_ frame: PeerFrame, at now: MonotonicTime) {
        pass(to: now)
        guard following.hasStates else { return }
        switch frame.message {
        case .statePart(let part): if follows(frame) { assemble(part) }
        case .transitions(let notes): if follows(frame) { repair(notes) }
        case .busy(let retryAfter):
            fetch = nil
            nextRequest = self.now + retryAfter
        case .refused(let refused):
            if refused.what == .section || refused.what == .definition && following.fingerprint != nil {
                actions.append(.refused(refused))
            }
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
            if frame.epoch != epoch && !breaks(.transfersEndWithTheirEpoch) { fetch = nil }
            // The journal may have lost the events of what was shown last: nothing is built on it.
            if frame.epoch != epoch && following.dependsOnTheLast && !breaks(.epochsBeginWithAState) { begin() }
            // Nor is it waited for what it may have lost.
            if frame.epoch != epoch { (newest, behindSince) = (content?.upperBound ?? .initial, nil) }
            if frame.epoch != epoch { forgetEnd() }
            epoch = frame.epoch
        } else {
            guard mayFollow(frame) else { return false }
            if frame.history != history { leave() }
            history = frame.history
            epoch = frame.epoch
            shown = nil
            newest = .initial
            behindSince = nil
            begin()
            lastTransition = nil
            forgetEnd()
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
        left = left.suffix(15) + [history]
    }

    /// The journal may have lost it: if not, it is said again.
    private mutating func forgetEnd() { if !hasEnded { ending = nil } }

    private func breaks(_ rule: Rule) -> Bool { brokenRules.contains(rule) }

    private mutating func begin() {
        forgetState()
        waiting.removeAll()
        if following.dependsOnTheLast { nextRequest = now }
    }

    // MARK: Whole states

    private mutating func notice(_ seq: Seq) {
        guard !breaks(.ticksShowGaps) else { return }
        newest = max(newest, seq)
        review()
    }

    /// Whether what is known to exist is here, and since when not.
    private mutating func review() {
        if let content, content.upperBound >= newest {
            behindSince = nil
        } else if behindSince == nil {
            behindSince = now
        }
    }

    /// What was handed out is the state at these seqs.
    private mutating func reach(_ seqs: ClosedRange<Seq>) {
        content = seqs
        shown = max(shown ?? .initial, seqs.upperBound)
        newest = max(newest, seqs.upperBound)
        behindSince = seqs.upperBound >= newest ? nil : now
    }

    /// Whether a state is older than what was handed out, or the same.
    private func isOld(_ seq: Seq) -> Bool {
        if let content { return seq <= content.upperBound }
        return shown.map { seq < $0 } ?? false
    }

    private mutating func show(_ seq: Seq, _ state: [UInt8]) {
        guard following.hasStates else { return }
        newest = max(newest, seq)
        if isOld(seq) { return }
        cameInPieces = false
        show(seq) { isAgain in isAgain ? .again(seq, state) : .state(seq, state) }
    }

    /// - Parameter action: what hands the state out, of the seq of the last one or of a newer one.
    private mutating func show(_ seq: Seq, _ action: (_ isAgain: Bool) -> ObserverAction) {
        if following.fingerprint != nil, let shown, seq > shown, seq.value - shown.value > 1 {
            actions.append(.missed(shown.next...Seq(seq.value - 1)))
        }
        actions.append(action(seq == shown))
        fetch = nil
        hash = nil
        reach(seq...seq)
        useWaiting()
    }

    private mutating func assemble(_ part: StatePart) {
        if isOld(part.seq) {
            fetch = nil
            return
        }
        if fetch?.id != part.transfer {
            guard part.part == 0 else { return }
            fetch = StateFetch(part)
        }
        // Taken out for as long as it is added to: an array that two hold would be copied with each part.
        guard var begun = fetch.take() else { return }
        guard part.part == begun.next else {
            fetch = begun
            return
        }
        let piece = begun.take(part)
        let (seq, count) = (begun.seq, begun.piecesCount)
        fetch = begun
        if let piece {
            if count == 1, part.end == .state { return show(seq, piece) }
            actions.append(.piece(seq, number: count - 1, piece))
            cameInPieces = true
            if part.end == .state { return show(seq) { .assembled(seq, isAgain: $0) } }
        }
        askAhead()
    }

    // MARK: What builds on the state before

    private mutating func take(_ delta: StateDelta) {
        guard following.fingerprint == nil, following.dependsOnTheLast else { return }
        newest = max(newest, delta.seq)
        let fetched = min(fetch?.byteCount ?? 0, waitingBytesMax)
        waiting.add(delta, bytesMax: max(Waiting.bytesMax, fetched))
        useWaiting()
        review()
    }

    private mutating func take(_ notes: [TransitionNote]) {
        guard let last = notes.last else { return }
        newest = max(newest, last.seq)
        waiting.add(notes)
        useWaiting()
        review()
    }

    /// Hands out what follows the state that is here; what does not has to wait for what is between.
    private mutating func useWaiting() {
        guard content != nil else { return }
        while let content, let delta = waiting.next(after: content, anyBase: breaks(.deltasApplyToTheirBase)) {
            actions.append(.delta(delta.seq, hash: delta.hash, delta.bytes))
            if let value = delta.hash { hash = (delta.seq, value) }
            reach(delta.seq...delta.seq)
        }
        if let content { handOut(waiting.notes(after: content.upperBound)) }
        lack = waiting.isEmpty ? nil : following.fingerprint == nil ? .state : .events
        if lack != nil { askIfDue() }
    }

    private mutating func handOut(_ notes: [TransitionNote]) {
        guard let last = notes.last else { return }
        actions.append(.events(history, notes))
        reach(last.seq...last.seq)
    }

    /// Events that were asked for. Where none of them follows the last one, they are no longer at hand.
    private mutating func repair(_ notes: [TransitionNote]) {
        guard lack == .events, fetch == nil, let content else { return }
        var last = content.upperBound
        let next = notes.filter { note in
            guard note.seq > last, note.seq.value - last.value == 1 else { return false }
            last = note.seq
            return true
        }
        if next.isEmpty {
            lack = .state
            return ask()
        }
        handOut(next)
        useWaiting()
        // An answer is no longer than a message: there may be more.
        if lack == nil, let content = self.content, content.upperBound < newest { lack = .events }
        if lack != nil { ask() }
    }

    /// A section has not changed.
    private mutating func keep(_ seqs: ClosedRange<Seq>) {
        guard following.hasStates, following.fingerprint == nil else { return }
        newest = max(newest, seqs.upperBound)
        guard let content else { return }
        if content.overlaps(seqs) {
            self.content =
                min(content.lowerBound, seqs.lowerBound)...max(content.upperBound, seqs.upperBound)
            shown = max(shown ?? .initial, seqs.upperBound)
            useWaiting()
        } else if seqs.lowerBound > content.upperBound {
            lack = .state
            askIfDue()
        }
        review()
    }

    private mutating func compare(_ seq: Seq, _ value: UInt64) {
        guard following.dependsOnTheLast, let content, content.contains(seq) else { return }
        if let hash, hash == (seq, value) { return }
        hash = (seq, value)
        actions.append(.hash(seq, value))
    }

    // MARK: Transitions for people

    private mutating func show(_ notes: [TransitionNote]) {
        guard following.transitions, let first = notes.first, let last = notes.last else { return }
        // Behind `known` there is a next one, whatever number the reducer gave it.
        if let known = lastTransition, first.seq > known, first.seq > known.next {
            actions.append(.missed(known.next...Seq(first.seq.value - 1)))
        }
        let new = notes.filter { $0.seq > lastTransition ?? .initial }
        lastTransition = max(lastTransition ?? .initial, last.seq)
        if !new.isEmpty { actions.append(.transitions(new)) }
    }
}
