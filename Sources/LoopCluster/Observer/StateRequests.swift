import LoopCore
package import LoopWire

/// The requests of an observer for a state, part by part, and their results. (Protocol, section 8.)
///
///     no transfer ── its first part ──▶ transfer ── next part ──▶ transfer ── last part ──▶ no transfer
struct StateRequests: Sendable {
    private let following: Following
    /// The form in which a state is requested: whole, once a state of chunks has proved wrong.
    private var form: StateForm
    private var fetch: StateFetch?
    /// Whether the last whole state that was handed out came in chunks.
    private var cameInChunks = false
    /// When the next request may be sent.
    private(set) var next = MonotonicTime.zero
    /// When a state that was handed out last proved wrong.
    private var divergedAt: MonotonicTime?

    private static var repeatInterval: Duration { .milliseconds(300) }
    /// A state that proves wrong twice within this time is not fetched at once.
    private static var divergenceLimit: Duration { .seconds(10) }
    private static var resyncPause: Duration { .seconds(5) }

    init(_ following: Following) {
        self.following = following
        // A state that is shown as it comes may stay encoded until it is needed.
        form = following.dependsOnTheLast ? .chunks : .whole
    }

    var isFetching: Bool { fetch != nil }

    /// How many bytes have come of the state that is being fetched.
    var byteCount: Int { fetch?.byteCount ?? 0 }

    /// The question that an answer to the present request for the state names.
    var question: Question { .state(transfer: fetch?.id ?? 0) }

    // MARK: Asking

    /// Delays the next request until this time.
    mutating func wait(until time: MonotonicTime) { next = time }

    /// Takes note that a request was sent.
    private mutating func delay(at now: MonotonicTime) { next = now + Self.repeatInterval }

    /// The request for a state, or again for the parts that have not come.
    mutating func ask(at now: MonotonicTime) -> [ToReducer] {
        guard fetch != nil else {
            delay(at: now)
            return [request(0, of: 0)]
        }
        fetch?.askAgain()
        return askAhead(at: now)
    }

    /// The requests for the next parts, in advance.
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

    /// The result of a part.
    enum Step: Equatable {
        /// The part is not the next one, and is dropped.
        case nothing
        /// More parts have to come.
        case more
        /// The state came whole.
        case state(Seq, [UInt8])
        /// A chunk of the state, possibly the last.
        case chunk(Seq, number: Int, [UInt8], isLast: Bool)
    }

    mutating func take(_ part: StatePart) -> Step {
        if fetch?.id != part.transfer {
            guard part.part == 0 else { return .nothing }
            fetch = StateFetch(part)
        }
        // It is taken out, so that adding to it makes no copy.
        guard var begun = fetch.take() else { return .nothing }
        defer { fetch = begun }
        guard part.part == begun.next else { return .nothing }
        guard let chunk = begun.take(part) else { return .more }
        let isLast = part.end == .state
        if begun.chunksCount == 1, isLast { return .state(begun.seq, chunk) }
        cameInChunks = true
        return .chunk(begun.seq, number: begun.chunksCount - 1, chunk, isLast: isLast)
    }

    /// Ends the transfer, because it is complete or of no use.
    mutating func endTransfer() { fetch = nil }

    /// Takes note that the state that was handed out came whole.
    mutating func cameWhole() { cameInChunks = false }

    /// Takes note that the state does not fit. A state is requested soon.
    mutating func diverge(at now: MonotonicTime) {
        if cameInChunks { form = .whole }
        endTransfer()
        let isUsual = divergedAt.map { now - $0 < Self.divergenceLimit } ?? false
        next = isUsual ? now + Self.resyncPause : now
        divergedAt = now
    }
}

/// A state that is being fetched, part by part in their order. Some parts are requested in advance, so that none waits for a
/// request.
///
/// It uses memory for what has come, whatever size a peer announces.
package struct StateFetch: Sendable {
    /// The transfer of the parts.
    let id: UInt64
    let seq: Seq
    /// How many chunks have come.
    private(set) var chunksCount = 0
    /// How many bytes have come.
    package private(set) var byteCount = 0
    /// The bytes of the chunk that is coming.
    private var bytes: [UInt8] = []
    /// The part that comes next.
    private(set) var next: UInt64 = 0
    /// The first part that was not requested.
    private var asked: UInt64 = 1

    /// How many parts are requested in advance.
    private static var aheadMax: UInt64 { 8 }

    package init(_ part: StatePart) { (id, seq) = (part.transfer, part.seq) }

    /// Takes the next part.
    /// - Returns: the chunk that ends with it, or nil if its chunk continues.
    package mutating func take(_ part: StatePart) -> [UInt8]? {
        next += 1
        byteCount += part.bytes.count
        if bytes.isEmpty { bytes = part.bytes } else { bytes += part.bytes }
        guard part.end != .nothing else { return nil }
        defer { bytes = [] }
        chunksCount += 1
        return bytes
    }

    /// The parts that are to be requested now. They count as requested from here on.
    mutating func ahead() -> Range<UInt64> {
        asked = max(asked, next)
        let range = asked..<max(asked, next + Self.aheadMax)
        asked = range.upperBound
        return range
    }

    /// Forgets the requests, which may be lost, so that the parts are requested again.
    mutating func askAgain() { asked = next }
}
