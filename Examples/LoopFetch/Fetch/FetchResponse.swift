/// What a server answered, after the redirects that were followed.
public struct FetchResponse: Sendable, Equatable {
    /// One redirect that was followed.
    public struct Hop: Sendable, Equatable, Hashable {
        /// The URL that answered with a redirect, in its normal form.
        public let url: String

        /// The status of that answer, such as 301.
        public let status: Int

        /// Where it led, absolute, with its fragment if it had one.
        public let location: String
    }

    /// The HTTP status, such as 200 or 404.
    public let status: Int

    /// The URL that gave this answer, in its normal form, without a fragment.
    public let finalURL: String

    /// The redirects that were followed, in order.
    public let redirects: [Hop]

    /// The `Content-Type` header as it was sent, such as `text/html; charset=utf-8`.
    public let contentType: String?

    /// What the `Retry-After` header asks for, in seconds (a date is turned into seconds from now).
    public let retryAfterSeconds: Int?

    /// Where an answer that is a redirect leads: absolute, with its fragment. Nil when there is no redirect.
    public let location: String?

    /// Whether the answer sets a cookie.
    public let setsCookie: Bool

    /// The body after decompression; empty for `HEAD`, and for a content type that is not wanted.
    public let body: [UInt8]

    /// Whether the answer has more of a body than `body`: it was cut at the limit, or not wanted.
    public let bodyTruncated: Bool

    /// The media type of `contentType` without its parameters, in lower case, such as `text/html`.
    public var mediaType: String? { contentType.map(Self.mediaType) }

    static func mediaType(_ contentType: String) -> String {
        let type = contentType.prefix { $0 != ";" && $0 != "," }
        return String(type.filter { !$0.isWhitespace }).lowercased()
    }
}
