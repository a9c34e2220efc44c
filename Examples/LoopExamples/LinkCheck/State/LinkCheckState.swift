package import LoopCollections

/// The knowledge about a site.
///
/// Of a page only the anchors are kept, as hashes. A link is kept until its target is known. After that it is kept only if the
/// report needs it: to a broken target, to a redirect, or to a missing anchor.
package struct LinkCheckState: Codable, Sendable {
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

    /// The number of each name of a target: 0, 1, 2, … in the order in which they were found.
    var numbers: TrackedDictionary<String, UInt32> = [:]
    /// The targets by their numbers.
    var targets: TrackedDictionary<UInt32, Target> = [:]
    var frontier = Frontier()
    /// Parts of large pages that are not complete yet.
    var parts: [UInt32: [LinkCheck.PageContent]] = [:]
    /// The redirects that set a cookie.
    var cookieSteps: Set<UInt32> = []
    /// The redirects of loops that are fetched once more, with the cookies of the steps.
    var cookieRetries: Set<UInt32> = []

    init(_ settings: CheckSettings) {
        self.settings = settings
        base = Self.folder(of: settings.site)
        guard !settings.site.isEmpty else { return }
        _ = enqueued(Self.name(of: settings.site, base: base), hops: 0)
        frontier.offer(isOrdered: settings.pagesMax != nil)
    }

    /// The jobs to run, by target: every target without an answer, in the order in which it was found.
    package var requests: TrackedDictionary<UInt32, FetchJob> { frontier.requests }

    /// How many targets to fetch are known, fetched ones included.
    package var foundCount: Int { frontier.foundCount }

    /// Whether everything is done.
    package var isFinished: Bool { !settings.site.isEmpty && frontier.isDrained }

    /// Journaled seconds between the first and the last answer.
    package var seconds: Double {
        guard let firstTime, let lastTime else { return 0 }
        return Double(lastTime - firstTime) / 1000
    }

    /// The absolute URL of a target.
    func url(of target: UInt32) -> String {
        isInScope(target) ? base + name(of: target) : name(of: target)
    }

    func name(of target: UInt32) -> String { targets[target]?.name ?? "" }

    func isInScope(_ target: UInt32) -> Bool { name(of: target).utf8.first == LinkLines.inScope }
}
