internal import LoopCore

/// Decides what people are told while a node has no reducer, and when it gives up; a pure machine.
///
///     waiting ── joined ──▶ in contact ── the session is lost ──▶ waiting …
///        └── the connect timeout, before the first contact ──▶ over
///
/// A line comes after two seconds, then after ten, a minute and ten minutes, and every ten minutes from there on. Before a
/// line the shell is asked to look why nobody answers, unless a connection stands.
struct ReducerWait: Equatable, Sendable {
    /// Why nobody answers, as far as a look at the address tells.
    enum Obstacle: Equatable, Sendable {
        /// The host's name has no address, in the system's words.
        case noSuchHost(String)
        /// Nobody accepts connections there.
        case nothingListens
        /// The machine does not answer, or cannot be reached: in the system's words.
        case unreachable(String)
        /// Somebody accepts connections, but none of ours comes to stand.
        case foreign
        /// A connection stands.
        case silent
        /// The reducer puts the node off, for this reason.
        case busy(String)
        /// Connections are made, and their handshakes fail.
        case handshakes(Handshakes.Obstacle)
        /// The look has found out nothing.
        case unknown

        /// For people, to follow a colon.
        var text: String {
            switch self {
            case .noSuchHost(let why): "the host name has no address (\(why))"
            case .nothingListens: "nothing listens there"
            case .unreachable(let why): "it cannot be reached (\(why))"
            case .foreign:
                "something listens there, but no reducer answers (its address is the first of its three ports)"
            case .silent: "a connection stands, but no reducer of this loop answers yet"
            case .busy(let why): "the reducer asks to try again later: \(why)"
            case .handshakes(let obstacle): obstacle.text
            case .unknown: "no answer"
            }
        }
    }

    /// What the node knows at the end of a turn.
    struct Facts: Equatable, Sendable {
        /// The reducer has let the node in, and is heard.
        var isJoined: Bool
        /// What was said last found a connection.
        var isConnected: Bool
        /// What keeps connections from standing, if that is known.
        var handshakes: Handshakes.Obstacle?
        /// Why the reducer has put the node off since they last were in contact; nil: it has not.
        var busy: String?
    }

    enum Action: Equatable, Sendable {
        /// Look why nobody answers, on another thread, and tell by `learned`.
        case look
        /// Tell people that nobody answers: since when, and why.
        case waiting(String, for: Duration, because: String)
        /// Tell people that the reducer answers, so long after it was missed.
        case reconnected(String, after: Duration)
        /// Nobody has answered within the connect timeout, for this reason.
        case giveUp(after: Duration, because: String)
    }

    private enum State: Equatable, Sendable {
        /// There is no reducer since then. How many lines were written, and a look is under way or not.
        case waiting(since: MonotonicTime, linesCount: Int, isLooking: Bool)
        /// The reducer is heard.
        case inContact
        /// It has given up.
        case over
    }

    private static let first: [Duration] = [.seconds(2), .seconds(10), .seconds(60), .seconds(600)]
    private static let interval = Duration.seconds(600)

    private let reducer: ReducerAddress
    private var state: State
    private var hadContact = false
    /// When it gives up; nil: never, or no longer.
    private var givesUpAt: MonotonicTime?
    private let timeout: Duration?
    private var obstacle = Obstacle.unknown

    /// - Parameter timeout: how long the first contact may take; nil: as long as it likes.
    init(reducer: ReducerAddress, timeout: Duration?, at now: MonotonicTime) {
        self.reducer = reducer
        self.timeout = timeout
        givesUpAt = timeout.map { now + $0 }
        state = .waiting(since: now, linesCount: 0, isLooking: false)
    }

    var isInContact: Bool { state == .inContact }

    /// When `advance` has something to do.
    var deadline: MonotonicTime {
        switch state {
        case .waiting(let since, let count, let isLooking):
            let line = isLooking ? MonotonicTime.never : since + delay(beforeLine: count)
            return min(line, givesUpAt ?? .never)
        case .inContact, .over: return .never
        }
    }

    /// A turn has ended.
    mutating func advance(to now: MonotonicTime, _ facts: Facts) -> [Action] {
        switch state {
        case .over: return []
        case .inContact:
            if !facts.isJoined { state = .waiting(since: now, linesCount: 0, isLooking: false) }
            return []
        case .waiting(let since, let count, let isLooking):
            if facts.isJoined {
                state = .inContact
                let isNews = hadContact || count > 0
                (hadContact, givesUpAt, obstacle) = (true, nil, .unknown)
                let duration = now - since
                let text = "the reducer at \(reducer) answers, after \(Self.text(duration))"
                return isNews ? [.reconnected(text, after: duration)] : []
            }
            if let handshakes = facts.handshakes {
                obstacle = .handshakes(handshakes)
            } else if let busy = facts.busy {
                obstacle = .busy(busy)
            } else if facts.isConnected {
                obstacle = .silent
            }
            if let givesUpAt, let timeout, now >= givesUpAt {
                state = .over
                return [.giveUp(after: timeout, because: obstacle.text)]
            }
            guard !isLooking, now >= since + delay(beforeLine: count) else { return [] }
            if facts.busy != nil || facts.isConnected || facts.handshakes != nil { return [line(at: now)] }
            state = .waiting(since: since, linesCount: count, isLooking: true)
            return [.look]
        }
    }

    /// A look has ended.
    mutating func learned(_ obstacle: Obstacle, at now: MonotonicTime) -> [Action] {
        guard case .waiting(let since, let count, true) = state else { return [] }
        self.obstacle = obstacle
        state = .waiting(since: since, linesCount: count, isLooking: false)
        return [line(at: now)]
    }

    private mutating func line(at now: MonotonicTime) -> Action {
        guard case .waiting(let since, let count, _) = state else {
            return .waiting(obstacle.text, for: .zero, because: obstacle.text)
        }
        // What was late does not come twice.
        var next = count + 1
        while now >= since + delay(beforeLine: next) { next += 1 }
        state = .waiting(since: since, linesCount: next, isLooking: false)
        let duration = Self.text(now - since)
        let text =
            hadContact
            ? "the reducer at \(reducer) has not answered for \(duration): \(obstacle.text); waiting"
            : "waiting for a reducer at \(reducer) for \(duration): \(obstacle.text); is the address right?"
                + " (--reducer or \(ReducerAddress.variable))"
        return .waiting(text, for: now - since, because: obstacle.text)
    }

    private func delay(beforeLine count: Int) -> Duration {
        let delay =
            count < Self.first.count
            ? Self.first[count] : Self.first[Self.first.count - 1] + Self.interval * (count - Self.first.count + 1)
        // Who gives up soon says before why.
        guard count == 0, let timeout, !hadContact else { return delay }
        return min(delay, timeout / 2)
    }

    static func text(_ duration: Duration) -> String {
        let seconds = duration.wholeNanoseconds / 1_000_000_000
        if duration < .seconds(1) { return "\(duration.wholeNanoseconds / 1_000_000) ms" }
        return seconds < 120 ? "\(seconds) s" : "\(seconds / 60) min"
    }
}

extension MonotonicTime {
    fileprivate static let never = MonotonicTime(nanoseconds: .max)
}
