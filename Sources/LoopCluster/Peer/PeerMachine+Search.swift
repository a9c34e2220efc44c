package import LoopCore
package import LoopWire

/// The search for the leader among several reducers. (Protocol, section 5.)
extension PeerMachine {
    /// The possible addresses of the leader.
    package var places: [String] { search.places }
    /// The address that is greeted, or at which the peer has joined.
    package var place: String { search.current }

    /// Takes a frame that was published at an address, through the inbox or to all subscribers. A frame of another address than
    /// the present one may show a new leader, and is of no other use.
    package mutating func receivePublished(_ frame: PeerFrame, from place: String, at now: MonotonicTime) {
        if place == search.current {
            if case .introducing = phase, tellsOfLeader(frame) { turn(to: place, by: frame, at: now) }
            return receivePublished(frame, at: now)
        }
        hear(frame, from: place, at: now)
    }

    /// Takes a frame that was published at an address to all subscribers. It may show a new leader.
    package mutating func hear(_ frame: PeerFrame, from place: String, at now: MonotonicTime) {
        self.now = max(self.now, now)
        guard tellsOfLeader(frame) else {
            if place != search.current { droppedCount += 1 }
            return
        }
        if case .introducing = phase {} else if place == search.current { return }
        turn(to: place, by: frame, at: self.now)
    }

    /// Whether a frame shows a leader that is not greeted yet: one of a newer epoch, or the one that fell silent.
    private func tellsOfLeader(_ frame: PeerFrame) -> Bool {
        switch frame.message {
        // These frames come from a reducer that does not lead. The walk decides which of them count.
        case .redirect, .noLeader: return false
        default: break
        }
        if phase.hasLeft || membership.left.contains(frame.history) { return false }
        if frame.history == history, frame.epoch == epoch {
            if case .introducing = phase { return true }
            return false
        }
        return membership.origin(of: frame, brokenRules) == .later
    }

    private mutating func turn(to place: String, by frame: PeerFrame, at now: MonotonicTime) {
        let before = search.current
        guard !search.isFixed || place != before, search.turn(to: place, by: frame, at: now) else { return }
        lose(.leaderMoved)
        greet(since: before, at: now)
    }

    /// Follows a standby's redirect to the leader.
    mutating func redirect(to address: String, _ frame: PeerFrame) {
        let before = search.current
        lose(.leaderMoved)
        let isOlder = frame.epoch != .none && membership.isOfEarlierEpoch(frame, brokenRules)
        guard search.follow(address, of: frame, isOlder: isOlder, at: now) else { return moveOn() }
        greet(since: before, at: now)
    }

    /// Moves on from a standby that knows no leader.
    mutating func waitForLeader(_ retryAfter: Duration) {
        lose(.leaderMoved)
        search.wait(retryAfter)
        moveOn()
    }

    /// Moves on from an address that is invalid or cannot be dialled.
    package mutating func couldNotDial() { moveOn() }

    /// Replaces the addresses by those that a name has now.
    package mutating func learn(places: [String], at now: MonotonicTime) {
        self.now = max(self.now, now)
        let before = search.current
        guard search.learn(places, isAdmitted: phase.isAdmitted || phase.hasLeft, at: self.now) else { return }
        greet(since: before, at: self.now)
    }

    /// Greets the next address, because the present one is of no use.
    mutating func moveOn() {
        let before = search.current
        let time = search.leave(at: now)
        if time > now { actions.append(.lookUp) }
        greet(since: before, at: time)
    }

    /// Greets the address of the search from this time on. Later messages go there.
    private mutating func greet(since before: String, at time: MonotonicTime) {
        if search.current != before { actions.append(.dial(search.current)) }
        phase = .introducing(next: time)
        askedAt = nil
        redialsAt = time + redialInterval
    }
}
