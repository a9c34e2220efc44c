public import LoopCollections
import LoopCore

/// Everything that is known about a site, small enough that 50,000 pages fit in memory with room to spare.
///
/// Names, fragments and errors are numbered once. Of a page its anchors stay, as hashes. A link is kept while its target
/// is not known, and afterwards only where the report needs it: to what is broken, redirects, or lacks the place.
public struct LinkCheckState: Sendable {
    /// The longest chain of redirects that is followed.
    static let hopsMax: UInt8 = 10

    public internal(set) var settings: CheckSettings
    /// The site's folder without its closing slash.
    public internal(set) var base: String
    /// Pages parsed.
    public internal(set) var pagesCount = 0
    /// Distinct pairs of a page and a target with its fragment.
    public internal(set) var linksCount = 0
    /// Those of them that are known to be broken; redirects are judged only at the end.
    public internal(set) var brokenLinksCount = 0
    /// Targets whose kind is known.
    public internal(set) var doneCount = 0
    /// Journaled times of the first and the last event.
    var firstTime: Int64?
    var lastTime: Int64?

    var names = NameTable()
    var targets = Chunks<Target>()
    /// The links to each target that are still of interest.
    var links = Chunks<LinkList>()
    var anchors = Chunks<AnchorSet>()
    var fragments = NameTable([""])
    var errors = NameTable([""])
    var frontier = Frontier()
    /// Parts of large pages whose end has not come yet.
    var parts: [UInt32: [LinkCheck.PageContent]] = [:]
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
    public var requests: TrackedDictionary<UInt32, FetchJob> { frontier.requests }

    /// How many targets are known that are to be fetched, fetched ones included.
    public var foundCount: Int { frontier.queue.count }

    /// Whether nothing is left to do.
    public var isFinished: Bool { !settings.site.isEmpty && frontier.isDrained }

    /// Journaled seconds between the first and the last answer.
    public var seconds: Double {
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
            limits: settings.limits)
    }

    mutating func fill() {
        while let next = frontier.next(isOrdered: settings.pagesMax != nil) {
            if let job = job(for: next.target, isPageWanted: next.isPageWanted) { frontier.offer(job) }
        }
    }

    /// Offers again what was offered when the state was stored, and, where fewer were at a time, the others.
    mutating func restoreRequests() {
        for entry in frontier.unanswered {
            if let job = job(for: entry.target, isPageWanted: entry.isPageWanted) { frontier.offer(job) }
        }
        fill()
    }
}
