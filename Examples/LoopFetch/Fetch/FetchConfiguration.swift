/// The options of a fetcher for all its requests.
public struct FetchConfiguration: Sendable, Equatable {
    /// The number of simultaneous transfers, at least 1. Further ones wait, and their time limits begin when they start.
    public var transfersMax = 256

    /// The `User-Agent` header.
    public var userAgent = "Loop/1 (link checker)"

    /// The defaults.
    public init() {}
}
