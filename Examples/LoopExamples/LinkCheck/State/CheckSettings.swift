/// What a check is asked to do, apart from how its effects are limited.
public struct CheckSettings: Codable, Equatable, Sendable {
    /// The URL at which the check begins, in its normal form; empty: there is nothing to check.
    public var site = ""
    /// Whether links out of the site are checked.
    public var checksExternal = false
    /// The largest number of pages that are read; nil for all.
    public var pagesMax: Int?
    /// What is not checked: URLs that begin with one of these, or match it where it has a `*`.
    public var ignored: [String] = []
    /// Whether URLs of the site are reported from its root on: `/book/a.html`.
    public var isRelative = false
    /// How each URL is fetched.
    public var limits = FetchLimits()

    public init() {}
}

/// How far a fetch goes. Travels with every job, so that a worker needs no arguments.
public struct FetchLimits: Codable, Hashable, Sendable {
    /// For one answer, in milliseconds.
    public var timeoutMilliseconds = 30_000
    /// How often a fetch that failed for the moment is tried again.
    public var retries = 3
    /// How much of a page is read, in bytes.
    public var bodyBytesMax = 10 << 20
    /// The `User-Agent` header.
    public var userAgent = "Loop/1 (link checker)"

    public init() {}
}

/// One URL to be fetched, with everything a worker has to know.
public struct FetchJob: Codable, Hashable, Sendable {
    /// The number of the target in the state.
    public var target: UInt32
    /// What to fetch, without a fragment.
    public var url: String
    /// The site's folder without its closing slash. What begins with it and a slash is in scope.
    public var base: String
    /// Whether a page is wanted, with its links and anchors; else only whether the URL answers.
    public var isPageWanted: Bool
    public var limits: FetchLimits

    /// Host and port: those that share the limits per host.
    public var host: String {
        guard let slashes = url.firstRange(of: "://") else { return "" }
        let authority = url[slashes.upperBound...].prefix { $0 != "/" }
        return String(authority.split(separator: "@").last ?? authority)
    }
}
