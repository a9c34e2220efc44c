internal import LoopCollections

/// The targets to fetch, in the order in which they were found. Each is a request until it is answered.
///
/// With a limit on pages, answers count in the order in which targets were found and not of arrival, so that every run reads the
/// same pages. An early answer is buffered until its turn. Until the limit is reached, only a few targets are requested ahead of it.
struct Frontier: Codable, Sendable {
    /// The offered jobs, by target.
    private(set) var requests: TrackedDictionary<UInt32, FetchJob> = [:]
    /// The jobs that are not offered yet, by target.
    private var later: TrackedDictionary<UInt32, FetchJob> = [:]
    /// With a limit on pages: the offered targets whose answers have not been taken, with the early answers.
    private var untaken: TrackedDictionary<UInt32, LinkCheck.Result?> = [:]
    /// Whether no more pages are requested.
    private var wantsFilesOnly = false
    /// How many targets to fetch were found.
    private(set) var foundCount = 0

    /// With a limit on pages: how many answers may be ahead of the next one in order.
    static let aheadMax = 256

    /// Whether no target is unanswered and no answer is buffered.
    var isDrained: Bool { requests.isEmpty && later.isEmpty && untaken.isEmpty }

    mutating func append(_ job: FetchJob) {
        later[job.target] = job
        if !job.keepsCookies { foundCount += 1 }
    }

    /// Whether the target is requested and has no answer.
    func isOpen(_ target: UInt32) -> Bool { requests[target] != nil || requests[target | Self.again] != nil }

    /// Removes the request of a target that was answered.
    mutating func close(_ target: UInt32) {
        requests[target] = nil
        requests[target | Self.again] = nil
    }

    /// Buffers an answer until its turn.
    mutating func hold(_ target: UInt32, _ outcome: LinkCheck.Result) { untaken.updateValue(outcome, forKey: target) }

    /// Takes the answer that is next in order.
    mutating func takeNext() -> (target: UInt32, outcome: LinkCheck.Result)? {
        guard let next = untaken.first, let outcome = next.value else { return nil }
        untaken.removeValue(forKey: next.key)
        return (next.key, outcome)
    }

    /// Makes targets that are offered from now on be checked only for existence.
    mutating func wantFilesOnly() { wantsFilesOnly = true }

    /// Offers the next jobs.
    /// - Parameter isOrdered: whether there is a limit on pages, so that some found pages may not be requested.
    mutating func offer(isOrdered: Bool) {
        while !isOrdered || wantsFilesOnly || untaken.count < Self.aheadMax, var job = later.first?.value {
            later.removeValue(forKey: job.target)
            if wantsFilesOnly { job.isPageWanted = false }
            if isOrdered { untaken.updateValue(nil, forKey: job.target) }
            requests[job.keepsCookies ? job.target | Self.again : job.target] = job
        }
    }

    /// A second fetch of a target has a key of its own. An effect that has ended does not start again while its key remains, and the
    /// first key may be closed in the same change of the state.
    private static let again: UInt32 = 1 << 31
}

extension LinkCheck {
    /// The result of one target: an answer, with the parts of its page joined, or none.
    enum Result: Codable, Sendable {
        case answered(Answer)
        case failed(status: Int?, error: String?)

        private enum CodingKeys: CodingKey, CaseIterable { case answered, failed }
    }
}
