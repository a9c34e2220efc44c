import LoopCore
internal import LoopWire

/// A peer's walk through the addresses that it was given, to find the reducer that leads. (Protocol, section 5.)
///
///     at an address ── silence, no answer, a standby ──▶ the next ── … ── the last ──▶ a pause ──▶ the first
///        ├── a standby's redirect, the first of this walk ──▶ the address in it
///        └── a newer epoch at another address ──▶ there, at once
///
/// With one address and no redirect there is nothing to decide: that address is greeted for ever.
package struct LeaderSearch: Sendable {
    /// How many addresses a peer may have.
    package static let placesMax = 5
    /// How long an address may leave hello unanswered if there are others.
    static let patience = Duration.seconds(1)
    /// The longest pause between two walks, unless standbys ask for a longer one.
    static let pauseMax = Duration.seconds(2)
    private static let pauseMin = Duration.milliseconds(250)
    /// How long the longest walk takes, with a redirect and the pause before it. After this time and the silence limit, each
    /// peer that can reach a leader has greeted it.
    package static let walkMax = pauseMax + patience * (placesMax + 1)

    /// The addresses, in the order in which they are greeted.
    private(set) var places: [String]
    /// The address that is greeted, or at which the peer has joined.
    private(set) var current: String
    /// The addresses that this walk has not reached.
    private var rest: [String]
    /// When the next address is greeted instead, or nil if only an event changes the address.
    private(set) var leavesAt: MonotonicTime?
    /// Whether this walk has followed a redirect.
    private var hasFollowed = false
    /// How many walks have ended since the peer was admitted.
    private var walksCount = 0
    /// The shortest pause that a standby of this walk has asked for.
    private var retryAfter: Duration?
    /// The epoch that came from another address than the present one, since the peer was admitted.
    private var heard: (history: History, epoch: Epoch)?
    private var random: SeededRandom

    /// - Parameters:
    ///   - places: the addresses; none if the shell knows the only address.
    ///   - seed: the seed of the jitter in pauses.
    init(_ places: [String], seed: UInt64) {
        self.places = places.isEmpty ? [""] : Array(places.prefix(Self.placesMax))
        current = self.places[0]
        rest = Array(self.places.dropFirst())
        random = SeededRandom(seed: seed)
    }

    /// Whether there is no other address to try.
    var isFixed: Bool { places.count == 1 && current == places[0] }

    /// Whether the address has had its time.
    func isOver(at now: MonotonicTime) -> Bool { leavesAt.map { now >= $0 } ?? false }

    // MARK: The walk

    /// Greets the present address from this time on.
    mutating func greet(from time: MonotonicTime) { leavesAt = isFixed ? nil : time + Self.patience }

    /// Ends the search, because the peer is admitted.
    mutating func found() {
        (hasFollowed, walksCount, retryAfter, heard, leavesAt) = (false, 0, nil, nil, nil)
        begin()
    }

    /// Begins a walk with the address after the present one, which comes last.
    private mutating func begin() {
        let index = places.firstIndex(of: current)
        rest = index.map { Array(places[($0 + 1)...] + places[...$0]) } ?? places
    }

    /// Leaves the present address, which is of no use now, for the next one. After the last, the next walk begins after a pause.
    /// - Returns: when the new address is to be greeted.
    mutating func leave(at now: MonotonicTime) -> MonotonicTime {
        var time = now
        if rest.isEmpty {
            walksCount += 1
            let pause = min(Self.pauseMin * (1 << min(walksCount - 1, 3)), Self.pauseMax)
            time = now + max(pause * (0.5 + random.fraction() / 2), retryAfter ?? .zero)
            (hasFollowed, retryAfter) = (false, nil)
            rest = places
        }
        current = rest.removeFirst()
        greet(from: time)
        return time
    }

    // MARK: Messages

    /// Takes note that a standby knows no leader.
    mutating func wait(_ duration: Duration) {
        let pause = ReducerTerms.pause(duration)
        retryAfter = min(retryAfter ?? pause, pause)
    }

    /// Follows a standby's redirect to the leader. Each walk follows one redirect, and none that may be older than what is known.
    /// - Parameter isOlder: whether it is of an earlier epoch than the peer's own.
    /// - Returns: whether it is followed.
    mutating func follow(_ address: String, of frame: PeerFrame, isOlder: Bool, at now: MonotonicTime) -> Bool {
        if let heard {
            // A leader has answered elsewhere, so a standby that knows no epoch knows less.
            if frame.epoch == .none { return false }
            if frame.history == heard.history, frame.epoch.number < heard.epoch.number { return false }
        }
        guard !hasFollowed, !isOlder, !address.isEmpty, address != current else { return false }
        hasFollowed = true
        current = address
        rest.removeAll { $0 == address }
        greet(from: now)
        return true
    }

    /// Takes note of a leader at an address.
    /// - Returns: whether it is greeted next. It is not if another address has a newer epoch.
    mutating func turn(to place: String, by frame: PeerFrame, at now: MonotonicTime) -> Bool {
        if let heard, frame.history == heard.history, frame.epoch.number < heard.epoch.number { return false }
        heard = (frame.history, frame.epoch)
        current = place
        rest.removeAll { $0 == place }
        greet(from: now)
        return true
    }

    /// Replaces the addresses, after a name was looked up.
    /// - Parameter isAdmitted: whether the peer is admitted, and so stays at its address.
    /// - Returns: whether another address than before is greeted next.
    mutating func learn(_ new: [String], isAdmitted: Bool, at now: MonotonicTime) -> Bool {
        let new = Array(new.prefix(Self.placesMax))
        guard !new.isEmpty, new != places else { return false }
        let stays = isAdmitted || new.contains(current) || !places.contains(current)
        places = new
        if !stays { current = new[0] }
        begin()
        if !stays { greet(from: now) }
        return !stays
    }
}
