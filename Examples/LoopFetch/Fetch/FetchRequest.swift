/// A URL to fetch, with the limits of the fetch.
package struct FetchRequest: Sendable, Equatable {
    /// The HTTP methods.
    package enum Method: Sendable, Equatable {
        /// Headers and body.
        case get
        /// Headers only.
        case head
    }

    /// An `http` or `https` URL; a fragment is not sent.
    package var url: String

    /// The HTTP method.
    package var method: Method

    /// The limit for each hop, from its start to the last byte of its answer.
    package var timeout: Duration = .seconds(30)

    /// The limit for resolving the host and connecting to it, within `timeout`.
    package var connectTimeout: Duration = .seconds(10)

    /// The limit of the body, in bytes after decompression. A longer body is truncated.
    package var bodyBytesMax = 10 << 20

    /// How many redirects are followed. With zero, a redirect is the answer, with its `location`.
    package var redirectsMax = 10

    /// Whether cookies of one hop are sent to later hops, which may then return to an earlier URL.
    package var keepsCookies = false

    /// The media types whose body is read, such as `text/html`, in lower case; or nil for all.
    ///
    /// The body of an answer of another type is not read.
    package var wantedContentTypes: Set<String>?

    /// The `Accept` header.
    package var accept = "*/*"

    /// Creates a request with the default limits.
    package init(_ url: String, method: Method = .get) {
        self.url = url
        self.method = method
    }
}
