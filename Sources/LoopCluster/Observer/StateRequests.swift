import LoopCore
import LoopWire

/// How an observer asks for a state, part by part, and what has come of it. (Protocol, section 8.)
///
///     no transfer ── its first part ──▶ transfer ── next part ──▶ transfer ── last part ──▶ no transfer
struct StateRequests: Sendable {
    private let following: Following
    /// How a state is asked for: whole, once what was made of chunks has proved wrong.
    private var form: StateForm
    private var fetch: StateFetch?
    /// Whether what was handed out last as a whole state came in chunks.
    private var cameInChunks = false
    /// When something may be asked for again.
    private(set) var next = MonotonicTime.zero
    /// When what was handed out proved to be wrong.
    private var divergedAt: MonotonicTime?

    private static var repeatInterval: Duration { .milliseconds(300) }
    /// A state that proves wrong twice within this time is not fetched at once.
    private static var divergenceLimit: Duration { .seconds(10) }
    private static var resyncPause: Duration { .seconds(5) }

    init(_ following: Following) {
        self.following = following
        // A state that is shown as it comes may stay encoded until it is looked at.
        form = following.dependsOnTheLast ? .chunks : .whole
    }

    var isFetching: Bool { fetch != nil }

    /// How many bytes have come of the state that is being fetched.
    var byteCount: Int { fetch?.byteCount ?? 0 }

    /// The question that an answer to the present request for the state names.
    var question: Question { .state(transfer: fetch?.id ?? 0) }

    // MARK: Asking

    /// Nothing is asked for before this time.
    mutating func wait(until time: MonotonicTime) { next = time }

    /// Something was asked for.
    mutating func delay(at now: MonotonicTime) { next = now + Self.repeatInterval }

    /// Asks for a state, or again for the parts that have not come.
    mutating func ask(at now: MonotonicTime) -> [ToReducer] {
        guard fetch != nil else {
            delay(at: now)
            return [request(0, of: 0)]
        }
        fetch?.askAgain()
        return askAhead(at: now)
    }

    /// Asks for the next parts before they come.
    mutating func askAhead(at now: MonotonicTime) -> [ToReducer] {
        delay(at: now)
        guard let id = fetch?.id, let parts = fetch?.ahead() else { return [] }
        return parts.map { request($0, of: id) }
    }

    private func request(_ part: UInt64, of transfer: UInt64) -> ToReducer {
        .stateRequest(
            transfer: transfer, part: part, form: form, section: following.section, deltas: following.deltas)
    }

    // MARK: Taking

    /// What comes of a part.
    enum Step: Equatable {
        /// It is not the one that comes next, and of no use.
        case nothing
        /// More parts are waited for.
        case more
        /// The state came whole.
        case state(Seq, [UInt8])
        /// A chunk of the state, maybe the last.
        case chunk(Seq, number: Int, [UInt8], isLast: Bool)
    }

    mutating func take(_ part: StatePart) -> Step {
        if fetch?.id != part.transfer {
            guard part.part == 0 else { return .nothing }
            fetch = StateFetch(part)
        }
        // Taken out while it is added to, so that it changes in place.
        guard var begun = fetch.take() else { return .nothing }
        defer { fetch = begun }
        guard part.part == begun.next else { return .nothing }
        guard let chunk = begun.take(part) else { return .more }
        let isLast = part.end == .state
        if begun.chunksCount == 1, isLast { return .state(begun.seq, chunk) }
        cameInChunks = true
        return .chunk(begun.seq, number: begun.chunksCount - 1, chunk, isLast: isLast)
    }

    /// The transfer is over, or of no use.
    mutating func endTransfer() { fetch = nil }

    /// A state that came whole was handed out.
    mutating func cameWhole() { cameInChunks = false }

    /// What was handed out does not fit: a state is asked for soon.
    mutating func diverge(at now: MonotonicTime) {
        if cameInChunks { form = .whole }
        endTransfer()
        let isUsual = divergedAt.map { now - $0 < Self.divergenceLimit } ?? false
        next = isUsual ? now + Self.resyncPause : now
        divergedAt = now
    }
}
