/// The settings of a check, apart from the limits of its effects.
package struct CheckSettings: Codable, Equatable, Sendable {
    /// The normalised URL at which the check begins, or empty if there is nothing to check.
    package var site = ""
    /// Whether links to other sites are checked.
    package var checksExternal = false
    /// The largest number of pages that are read, or nil for no limit.
    package var pagesMax: Int?
    /// The URLs that are not checked: those that begin with one of these, or match it if it has a `*`.
    package var ignored: [String] = []
    /// Whether URLs of the site are reported relative to its root: `/book/a.html`.
    package var isRelative = false
    /// How each URL is fetched.
    package var limits = FetchLimits()

    package init() {}
}

/// The limits of a fetch. They are part of every job, so that a worker needs no arguments.
package struct FetchLimits: Codable, Hashable, Sendable {
    /// The limit of one answer, in milliseconds.
    package var timeoutMilliseconds = 30_000
    /// How often a fetch with a transient failure is retried.
    package var retries = 3
    /// The limit of a page's body, in bytes.
    package var bodyBytesMax = 10 << 20
    /// The `User-Agent` header.
    package var userAgent = "Loop/1 (link checker)"

    package init() {}
}

/// One URL to fetch, with everything that a worker needs.
package struct FetchJob: Codable, Hashable, Sendable {
    /// The number of the target in the state.
    package var target: UInt32
    /// The URL, without a fragment.
    package var url: String
    /// The site's folder without its closing slash. URLs that begin with it and a slash are in scope.
    package var base: String
    /// Whether a page is requested, with its links and anchors; else only whether the URL answers.
    package var isPageWanted: Bool
    /// Whether a redirect is followed with the cookies of the steps, because these lead back to it.
    package var keepsCookies: Bool
    package var limits: FetchLimits

    /// Host and port, for the limits per host.
    package var host: String {
        guard let slashes = url.firstRange(of: "://") else { return "" }
        let authority = url[slashes.upperBound...].prefix { $0 != "/" }
        return String(authority.split(separator: "@").last ?? authority)
    }
}
