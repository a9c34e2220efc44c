internal import LoopCore

/// The targets to fetch, in the order in which they were found. Each is a request until it is answered.
///
/// With a limit on pages, answers count in the order of the queue and not of arrival, so that every run reads the same pages. An
/// early answer is buffered until its turn. Until the limit is reached, only a few targets are requested ahead of it.
struct Frontier: Sendable {
    private(set) var queue = Chunks<UInt32>()
    /// How many targets of the queue have been offered.
    private(set) var offeredCount = 0
    /// How many targets of the queue have been taken, in order. Used only with a limit on pages.
    private(set) var takenCount = 0
    /// Early answers.
    private(set) var held: [UInt32: LinkCheck.Result] = [:]
    /// The queue position from which no more pages are requested, or nil if there is none yet.
    private(set) var filesFrom: Int?
    /// The offered jobs, by target.
    private(set) var requests: TrackedDictionary<UInt32, FetchJob> = [:]

    /// With a limit on pages: how many answers may be ahead of the next one in order.
    static let aheadMax = 256

    init() {}

    init(
        queue: [UInt32], offeredCount: Int, takenCount: Int, filesFrom: Int?, held: [UInt32: LinkCheck.Result]
    ) {
        self.queue = Chunks(queue)
        self.offeredCount = min(max(offeredCount, 0), queue.count)
        self.takenCount = min(max(takenCount, 0), queue.count)
        self.filesFrom = filesFrom
        self.held = held
    }

    /// Whether no target is unanswered and no answer is buffered.
    var isDrained: Bool { requests.isEmpty && offeredCount == queue.count && held.isEmpty }

    mutating func append(_ target: UInt32) { queue.append(target) }

    /// Removes the request of a target that was answered.
    mutating func close(_ target: UInt32) {
        requests[target] = nil
        requests[target | Self.again] = nil
    }

    /// Buffers an answer until its turn. It returns false if there is one already.
    mutating func hold(_ target: UInt32, _ outcome: LinkCheck.Result) -> Bool {
        if held[target] != nil { return false }
        held[target] = outcome
        return true
    }

    /// Takes the answer that is next in order.
    mutating func takeNext() -> (target: UInt32, outcome: LinkCheck.Result)? {
        guard takenCount < queue.count, let outcome = held.removeValue(forKey: queue[takenCount]) else { return nil }
        defer { takenCount += 1 }
        return (queue[takenCount], outcome)
    }

    /// Makes targets that are offered from now on be checked only for existence.
    mutating func wantFilesOnly() { filesFrom = filesFrom ?? offeredCount }

    /// The next target of the queue to offer, or nil if there is none now.
    /// - Parameter isOrdered: whether there is a limit on pages, so that some found pages may not be requested.
    mutating func next(isOrdered: Bool) -> (target: UInt32, isPageWanted: Bool)? {
        if isOrdered, filesFrom == nil, requests.count + held.count >= Self.aheadMax { return nil }
        guard offeredCount < queue.count else { return nil }
        defer { offeredCount += 1 }
        return entry(offeredCount)
    }

    mutating func offer(_ job: FetchJob) {
        requests[job.keepsCookies ? job.target | Self.again : job.target] = job
    }

    /// A second fetch of a target has a key of its own. An effect that has ended does not start again while its key remains, and the
    /// first key may be closed in the same change of the state.
    private static let again: UInt32 = 1 << 31

    /// The offered targets without a buffered answer. Some of them may have been answered.
    var unanswered: [(target: UInt32, isPageWanted: Bool)] {
        (0..<offeredCount).map(entry).filter { held[$0.target] == nil }
    }

    private func entry(_ position: Int) -> (target: UInt32, isPageWanted: Bool) {
        (queue[position], position < filesFrom ?? .max)
    }
}

extension LinkCheck {
    /// The result of one target: an answer, with the parts of its page joined, or none.
    enum Result: Codable, Sendable {
        case answered(Answer)
        case failed(status: Int?, error: String?)

        private enum CodingKeys: CodingKey, CaseIterable { case answered, failed }
    }
}
