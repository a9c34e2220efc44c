internal import LoopCore

/// The targets to fetch, in the order in which they were found. Each is a request until it is answered.
///
/// With a limit on pages the answers count in the order of the queue, whatever the order of their arrival, so that every
/// run reads the same pages. An early answer is held until its turn, and until the limit is reached only a few targets
/// are requested ahead of it.
struct Frontier: Sendable {
    private(set) var queue = Chunks<UInt32>()
    /// How many of the queue have been offered.
    private(set) var offeredCount = 0
    /// How many of the queue have been handed on, in order. Only of use where order counts.
    private(set) var takenCount = 0
    /// Early answers.
    private(set) var held: [UInt32: LinkCheck.Result] = [:]
    /// The position in the queue from which no more pages are wanted; nil if there is none yet.
    private(set) var filesFrom: Int?
    /// What is offered, by target.
    private(set) var requests: TrackedDictionary<UInt32, FetchJob> = [:]

    /// How many answers may be ahead of the one whose turn it is, while order counts.
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

    /// What is neither answered nor held.
    var isDrained: Bool { requests.isEmpty && offeredCount == queue.count && held.isEmpty }

    mutating func append(_ target: UInt32) { queue.append(target) }

    /// The target is answered: it is no request any more.
    mutating func close(_ target: UInt32) { requests[target] = nil }

    /// Keeps an answer for its turn. False: there is one already.
    mutating func hold(_ target: UInt32, _ outcome: LinkCheck.Result) -> Bool {
        if held[target] != nil { return false }
        held[target] = outcome
        return true
    }

    /// The answer whose turn it is.
    mutating func takeNext() -> (target: UInt32, outcome: LinkCheck.Result)? {
        guard takenCount < queue.count, let outcome = held.removeValue(forKey: queue[takenCount]) else { return nil }
        defer { takenCount += 1 }
        return (queue[takenCount], outcome)
    }

    /// Targets that are offered from now on are only checked for existence.
    mutating func wantFilesOnly() { filesFrom = filesFrom ?? offeredCount }

    /// The next of the queue, which may now be offered; nil when there is none.
    /// - Parameter isOrdered: there is a limit on pages, so that not all that are found may be wanted.
    mutating func next(isOrdered: Bool) -> (target: UInt32, isPageWanted: Bool)? {
        if isOrdered, filesFrom == nil, requests.count + held.count >= Self.aheadMax { return nil }
        guard offeredCount < queue.count else { return nil }
        defer { offeredCount += 1 }
        return entry(offeredCount)
    }

    mutating func offer(_ job: FetchJob) { requests[job.target] = job }

    /// What has been offered and is not held; some of it may have been answered.
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
    }
}
