/// A server's answer, after the redirects that were followed.
package struct FetchResponse: Sendable, Equatable {
    /// One redirect that was followed.
    package struct Hop: Sendable, Equatable, Hashable {
        /// The normalised URL that answered with a redirect.
        package let url: String

        /// The status of that answer, such as 301.
        package let status: Int

        /// The absolute URL of the redirect's target, with its fragment if there was one.
        package let location: String
    }

    /// The HTTP status, such as 200 or 404.
    package let status: Int

    /// The normalised URL that gave this answer, without a fragment.
    package let finalURL: String

    /// The redirects that were followed, in order.
    package let redirects: [Hop]

    /// The `Content-Type` header as it was sent, such as `text/html; charset=utf-8`. Nil for 204 and 205, which have no content.
    package let contentType: String?

    /// The value of the `Retry-After` header in seconds. A date is converted to seconds from now.
    package let retryAfterSeconds: Int?

    /// The absolute target of an answer that is a redirect, with its fragment; or nil if there is no redirect.
    package let location: String?

    /// The `Location` of an answer of 300 to 399 that is not followed: another status than 301, 302, 303, 307 or 308, no `http` or
    /// `https` URL, one with a user name or password, or several. Nil if there is none, and for 304. User names and passwords are
    /// left out.
    package let refusedLocation: String?

    /// Whether the answer sets a cookie.
    package let setsCookie: Bool

    /// The body after decompression; empty for `HEAD`, and for a content type that was not requested.
    package let body: [UInt8]

    /// Whether the answer has more of a body than `body`, because it was truncated or not requested.
    package let bodyTruncated: Bool

    /// The media type of `contentType` without its parameters, in lower case, such as `text/html`.
    package var mediaType: String? { contentType.map(Self.mediaType) }

    static func mediaType(_ contentType: String) -> String {
        let type = contentType.prefix { $0 != ";" && $0 != "," }
        return String(type.filter { !$0.isWhitespace }).lowercased()
    }
}
