/// What to fetch, and how far to go for it.
public struct FetchRequest: Sendable, Equatable {
    /// What is asked of the server.
    public enum Method: Sendable, Equatable {
        /// Headers and body.
        case get
        /// Headers only.
        case head
    }

    /// An `http` or `https` URL; a fragment is not sent.
    public var url: String

    /// What is asked of the server.
    public var method: Method

    /// The limit for each hop, from its start to the last byte of its answer.
    public var timeout: Duration = .seconds(30)

    /// The limit for finding the host and connecting to it, within `timeout`.
    public var connectTimeout: Duration = .seconds(10)

    /// How much of a body is kept, in bytes after decompression.
    public var bodyBytesMax = 10 << 20

    /// Whether a body beyond `bodyBytesMax` is cut there (else it is an error).
    public var truncatesBody = true

    /// How many redirects are followed. Zero: a redirect is answered as it is, with its `location`.
    public var redirectsMax = 10

    /// Whether cookies that one hop sets are sent with later hops, which may then return to an earlier URL.
    public var keepsCookies = false

    /// The media types of which the body is wanted, such as `text/html`, in lower case; nil: all.
    ///
    /// The body of an answer of another type is not read.
    public var wantedContentTypes: Set<String>?

    /// The `Accept` header.
    public var accept = "*/*"

    /// A request with the default limits.
    public init(_ url: String, method: Method = .get) {
        self.url = url
        self.method = method
    }
}
