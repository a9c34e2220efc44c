/// The options of a fetcher for all its requests.
public struct FetchConfiguration: Sendable, Equatable {
    /// The number of simultaneous transfers, at least 1. Further ones wait, and their time limits begin when they start.
    public var transfersMax = 256

    /// The number of connections that are kept open for later requests, at least 1.
    public var keptConnectionsMax = 256

    /// The `User-Agent` header.
    public var userAgent = "Loop/1 (link checker)"

    /// Whether compressed answers are requested.
    public var acceptsCompression = true

    /// The defaults.
    public init() {}
}
