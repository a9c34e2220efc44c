internal import LoopCore

/// Decides what the log says while a node has no reducer, and when the node gives up. A pure machine.
///
///     waiting ── joined ──▶ in contact ── the session is lost ──▶ waiting …
///        └── the connect timeout, before the first contact ──▶ over
///
/// A line comes after two seconds, then after ten, a minute and ten minutes, and every ten minutes from then on. Before a line, the
/// shell looks why there is no answer, unless there is only one address and it has shown the reason. Giving up waits for that line,
/// for `lookLimit` at most, so that it can name the reason.
struct ReducerWait: Equatable, Sendable {
    /// Why there is no answer, as far as a look at the address shows.
    enum Obstacle: Equatable, Sendable {
        /// The host's name has no address, in the system's words.
        case noSuchHost(String)
        /// No process accepts connections there.
        case nothingListens
        /// The machine does not answer or cannot be reached, in the system's words.
        case unreachable(String)
        /// The listener does not speak ZeroMQ.
        case foreign
        /// Connections are accepted, but no whole greeting is sent.
        case mute
        /// The listener speaks ZeroMQ, but does not answer as a reducer.
        case unanswered
        /// What listens there refuses to answer this process, or cannot be read, for this reason.
        case refused(String)
        /// A reducer of the loop with this name answers questions.
        case reducer(of: String)
        /// A reducer answers, but cannot serve for this reason.
        case notReady(String)
        /// There is a connection, but no answer.
        case silent
        /// The reducer asks the node to try again later, for this reason.
        case busy(String)
        /// A standby answers, and names this leader, or an empty text if it knows none. The reason why it cannot lead is nil if
        /// it gives none.
        case standby(of: String, because: String? = nil)
        /// Connections are made, and their handshakes fail.
        case handshakes(Handshakes.Obstacle)
        /// The look has found nothing.
        case unknown

        /// A text for people, to follow a colon.
        var text: String {
            switch self {
            case .noSuchHost(let why): "the host name has no address (\(why))"
            case .nothingListens: "nothing listens there"
            case .unreachable(let why): "it cannot be reached (\(why))"
            case .foreign: "what listens there does not speak ZeroMQ, so it is no reducer"
            case .mute: "connections are accepted there, and nothing is said; the process may be stopped, or no reducer"
            case .unanswered: "what listens there speaks ZeroMQ, and does not answer as a reducer"
            case .refused(let why): why
            case .reducer(let loop): "a reducer of the loop \"\(loop)\" answers there"
            case .notReady(let why): "a reducer answers, and is not ready: \(why)"
            case .silent: "there is a connection, but no reducer of this loop answers yet"
            case .busy(let why): "the reducer asks to try again later: \(why)"
            case .standby(_, let why?): "a standby answers: \(why)"
            case .standby("", nil): "a standby answers, and knows no leader"
            case .standby(let leader, nil): "a standby answers, and says that \(leader) leads"
            case .handshakes(let obstacle): obstacle.text
            case .unknown: "no answer"
            }
        }

        /// Whether it says less than an earlier answer or connection.
        fileprivate var isVague: Bool {
            switch self {
            case .foreign, .mute, .unanswered, .unknown: true
            case .noSuchHost, .nothingListens, .unreachable, .refused, .reducer, .notReady, .silent, .busy, .standby,
                .handshakes:
                false
            }
        }

        /// Whether it says more than what a later look has found.
        fileprivate func outweighs(_ found: Obstacle) -> Bool {
            switch self {
            case .refused, .notReady, .silent, .busy, .standby: found.isVague
            // Another protocol explains why they fail.
            case .handshakes: found.isVague && found != .foreign
            case .noSuchHost, .nothingListens, .unreachable, .foreign, .mute, .unanswered, .reducer, .unknown: false
            }
        }
    }

    /// What the node knows at the end of a turn.
    struct Facts: Equatable, Sendable {
        /// The address of the present connection, to which the other facts apply.
        var place = ""
        /// Whether the reducer has let the node in, and is in contact.
        var isJoined: Bool
        /// Whether the last message found a connection.
        var isConnected: Bool
        /// What prevents connections, if that is known.
        var handshakes: Handshakes.Obstacle?
        /// Why the reducer has asked the node to try again since they last were in contact, or nil if it has not.
        var busy: String?
        /// The leader that a standby there has named, empty if it knows none, or nil if no standby has answered.
        var standbyOf: String?
    }

    enum Action: Equatable, Sendable {
        /// Look why there is no answer, on another thread, and report by `learned`.
        case look
        /// Log that there is no answer, for how long, and why.
        case waiting(String, for: Duration, because: String)
        /// Log that the reducer answers, and after how long.
        case reconnected(String, after: Duration)
        /// No reducer has answered within the connect timeout, for this reason.
        case giveUp(after: Duration, because: String)
    }

    private enum State: Equatable, Sendable {
        /// Since when there is no reducer, how many lines were written, and whether a look is under way.
        case waiting(since: MonotonicTime, linesCount: Int, isLooking: Bool)
        /// The reducer is in contact.
        case inContact
        /// The node has given up.
        case over
    }

    private static let first: [Duration] = [.seconds(2), .seconds(10), .seconds(60), .seconds(600)]
    private static let interval = Duration.seconds(600)
    /// How much longer than the connect timeout a look may take before the node gives up without the reason.
    private static let lookLimit = Duration.seconds(2)

    private let reducer: ReducerAddress
    private var state: State
    private var hadContact = false
    /// When it gives up, or nil if never, or no longer.
    private var givesUpAt: MonotonicTime?
    private let timeout: Duration?
    /// What is known of each address.
    private var obstacles: [String: Obstacle] = [:]

    /// - Parameter timeout: how long to wait for the reducer at start, or nil to wait forever.
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
            if isLooking { return givesUpAt.map { $0 + Self.lookLimit } ?? .never }
            return min(since + delay(beforeLine: count), givesUpAt ?? .never)
        case .inContact, .over: return .never
        }
    }

    /// Takes the facts at the end of a turn.
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
                (hadContact, givesUpAt, obstacles) = (true, nil, [:])
                let duration = now - since
                let text = "the reducer at \(reducer) answers, after \(duration.text)"
                return isNews ? [.reconnected(text, after: duration)] : []
            }
            let known = Self.obstacle(in: facts)
            if let known { obstacles[facts.place] = known }
            if let givesUpAt, let timeout {
                let isExplained = count > 0 && !isLooking
                if now >= (isExplained ? givesUpAt : givesUpAt + Self.lookLimit) {
                    state = .over
                    return [.giveUp(after: timeout, because: reason)]
                }
            }
            guard !isLooking, now >= since + delay(beforeLine: count) else { return [] }
            // Only a look shows why handshakes end, or what is wrong at an address without a connection.
            if let known, known != .handshakes(.ended), reducer.endpoints.count == 1 { return [line(at: now)] }
            state = .waiting(since: since, linesCount: count, isLooking: true)
            return [.look]
        }
    }

    /// Takes the findings of a look.
    mutating func learned(_ found: [String: Obstacle], at now: MonotonicTime) -> [Action] {
        guard case .waiting(let since, let count, true) = state else { return [] }
        obstacles.merge(found) { old, new in old.outweighs(new) ? old : new }
        state = .waiting(since: since, linesCount: count, isLooking: false)
        return [line(at: now)]
    }

    private static func obstacle(in facts: Facts) -> Obstacle? {
        if let handshakes = facts.handshakes { return .handshakes(handshakes) }
        if let leader = facts.standbyOf { return .standby(of: leader) }
        if let busy = facts.busy { return .busy(busy) }
        return facts.isConnected ? .silent : nil
    }

    /// A text for people, to follow a colon. For several addresses, why each does not answer.
    private var reason: String {
        func text(_ place: String) -> String { (obstacles[place] ?? .unknown).text }
        let places = reducer.endpoints.map(\.description)
        if places.count == 1, obstacles.count <= 1 { return obstacles.values.first?.text ?? Obstacle.unknown.text }
        // A standby may have sent the node elsewhere, and a name may resolve to several machines.
        let others = obstacles.keys.filter { !$0.isEmpty && !places.contains($0) }.sorted()
        return (places + others).map { "\($0): \(text($0))" }.joined(separator: "; ")
    }

    private mutating func line(at now: MonotonicTime) -> Action {
        guard case .waiting(let since, let count, _) = state else {
            return .waiting(reason, for: .zero, because: reason)
        }
        // Lines whose times have passed are skipped.
        var next = count + 1
        while now >= since + delay(beforeLine: next) { next += 1 }
        state = .waiting(since: since, linesCount: next, isLooking: false)
        let duration = (now - since).text
        let text =
            hadContact
            ? "the reducer at \(reducer) has not answered for \(duration): \(reason); waiting"
            : "waiting for a reducer at \(reducer) for \(duration): \(reason); is the address right?"
                + " (--reducer or \(ReducerAddress.variable))"
        return .waiting(text, for: now - since, because: reason)
    }

    private func delay(beforeLine count: Int) -> Duration {
        let delay =
            count < Self.first.count
            ? Self.first[count] : Self.first[Self.first.count - 1] + Self.interval * (count - Self.first.count + 1)
        // With a short timeout, a line with the reason comes before the node gives up.
        guard count == 0, let timeout, !hadContact else { return delay }
        return min(delay, timeout / 2)
    }
}

extension MonotonicTime {
    fileprivate static let never = MonotonicTime(nanoseconds: .max)
}
