/// How a fetcher treats all its requests.
public struct FetchConfiguration: Sendable, Equatable {
    /// Transfers at a time; more of them wait, and their time limits begin when they start. At least 1.
    public var transfersMax = 256

    /// Connections that are kept open for later requests. At least 1.
    public var keptConnectionsMax = 256

    /// The `User-Agent` header.
    public var userAgent = "Loop/1 (link checker)"

    /// Whether compressed answers are asked for.
    public var acceptsCompression = true

    /// The defaults.
    public init() {}
}
