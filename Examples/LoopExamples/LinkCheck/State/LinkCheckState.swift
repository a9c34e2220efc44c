package import LoopCollections

/// The knowledge about a site, small enough that 50,000 pages fit easily into memory.
///
/// Names, fragments and errors are numbered once. Of a page only the anchors are kept, as hashes. A link is kept until its target
/// is known. After that it is kept only if the report needs it: to a broken target, to a redirect, or to a missing anchor.
package struct LinkCheckState: Sendable {
    /// The longest chain of redirects that is followed.
    static let hopsMax: UInt8 = 10

    package internal(set) var settings: CheckSettings
    /// The site's folder without its closing slash.
    package internal(set) var base: String
    /// The number of parsed pages.
    package internal(set) var pagesCount = 0
    /// The number of distinct pairs of a page and a target with its fragment.
    package internal(set) var linksCount = 0
    /// How many of these are known to be broken. Redirects are judged only at the end.
    package internal(set) var brokenLinksCount = 0
    /// The number of targets whose phase is final.
    package internal(set) var doneCount = 0
    /// Journaled times of the first and the last event.
    var firstTime: Int64?
    var lastTime: Int64?

    var names = NameTable()
    var targets = Chunks<Target>()
    /// The links to each target that are still needed.
    var links = Chunks<LinkList>()
    var anchors = Chunks<AnchorSet>()
    var fragments = NameTable([""])
    var errors = NameTable([""])
    var frontier = Frontier()
    /// Parts of large pages that are not complete yet.
    var parts: [UInt32: [LinkCheck.PageContent]] = [:]
    /// The redirects that set a cookie.
    var cookieSteps: Set<UInt32> = []
    /// The redirects of loops that are fetched once more, with the cookies of the steps.
    var cookieRetries: Set<UInt32> = []
    var ignored: [URLPattern]

    init(_ settings: CheckSettings) {
        self.settings = settings
        base = Self.folder(of: settings.site)
        ignored = settings.ignored.map(URLPattern.init)
        guard !settings.site.isEmpty else { return }
        _ = enqueued(Self.name(of: settings.site, base: base), hops: 0)
        fill()
    }

    /// The jobs to run, by target: every target without an answer, in the order in which it was found.
    package var requests: TrackedDictionary<UInt32, FetchJob> { frontier.requests }

    /// How many targets to fetch are known, fetched ones included.
    package var foundCount: Int { frontier.queue.count - cookieRetries.count }

    /// Whether everything is done.
    package var isFinished: Bool { !settings.site.isEmpty && frontier.isDrained }

    /// Journaled seconds between the first and the last answer.
    package var seconds: Double {
        guard let firstTime, let lastTime else { return 0 }
        return Double(lastTime - firstTime) / 1000
    }

    /// The absolute URL of a target.
    func url(of target: UInt32) -> String {
        names.firstByte(of: target) == LinkLines.inScope ? base + names[target] : names[target]
    }

    func isInScope(_ target: UInt32) -> Bool { names.firstByte(of: target) == LinkLines.inScope }

    private func job(for target: UInt32, isPageWanted: Bool) -> FetchJob? {
        guard Int(target) < targets.count, targets[Int(target)].phase == .queued else { return nil }
        return FetchJob(
            target: target, url: url(of: target), base: base, isPageWanted: isPageWanted && isInScope(target),
            keepsCookies: cookieRetries.contains(target), limits: settings.limits)
    }

    mutating func fill() {
        while let next = frontier.next(isOrdered: settings.pagesMax != nil) {
            if let job = job(for: next.target, isPageWanted: next.isPageWanted) { frontier.offer(job) }
        }
    }

    /// Offers the jobs again that were offered when the state was stored, and more if the limit now allows it.
    mutating func restoreRequests() {
        for entry in frontier.unanswered {
            if let job = job(for: entry.target, isPageWanted: entry.isPageWanted) { frontier.offer(job) }
        }
        fill()
    }
}
