internal import CCurl

/// The reason why there is no answer.
package struct FetchError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of failures.
    package enum Code: Equatable, Sendable {
        /// The URL, or the target of a redirect, is malformed, or neither `http` nor `https`.
        case malformedURL
        /// The name of the host could not be resolved.
        case hostNotFound
        /// Nothing accepted the connection.
        case connectionRefused
        /// The connection ended before the answer did.
        case connectionLost
        /// A limit of the request passed first.
        case timedOut
        /// No secure connection was possible, because of certificate, name, or protocol.
        case tls
        /// Redirects formed a loop, or there were more than the request allows.
        case tooManyRedirects
        /// The server does not speak a known version of HTTP.
        case noHTTP
        /// The headers are longer than libcurl or the fetcher allows.
        case headersTooLong
        /// The body has an encoding that was not requested, violates its encoding, or ends too early.
        case unreadableBody
        /// The task was cancelled, or the fetcher shut down.
        case cancelled
        /// The fetcher could not be set up.
        case unavailable
        /// Another error, with libcurl's number.
        case other(Int)
    }

    /// The kind of the failure.
    package let code: Code

    /// The URL that failed: of the request, or of the last hop.
    package let url: String

    /// The status of the answer, or nil if none has come.
    package let status: Int?

    /// The reason in a few words, such as `Connection refused`.
    package let reason: String

    /// The redirects that had been followed before.
    package let redirects: [FetchResponse.Hop]

    /// Whether the same request may succeed a little later.
    package let isTransient: Bool

    init(
        _ code: Code, url: String, status: Int? = nil, reason: String, redirects: [FetchResponse.Hop] = [],
        isTransient: Bool? = nil
    ) {
        self.code = code
        self.url = url
        self.status = status
        self.reason = reason
        self.redirects = redirects
        self.isTransient = isTransient ?? code.isUsuallyTransient
    }

    /// A line with the URL and the reason.
    package var description: String { "cannot fetch \(url): \(reason)" }
}

extension FetchError.Code {
    // Host names are included, because a resolver does not distinguish a missing name from a temporary failure.
    fileprivate var isUsuallyTransient: Bool {
        switch self {
        case .hostNotFound, .connectionRefused, .connectionLost, .timedOut: true
        case .malformedURL, .tls, .tooManyRedirects, .noHTTP, .headersTooLong, .unreadableBody, .cancelled,
            .unavailable, .other:
            false
        }
    }

    /// The kind of a libcurl result (https://curl.se/libcurl/c/libcurl-errors.html).
    init(_ result: CURLcode) {
        switch result {
        case CURLE_URL_MALFORMAT: self = .malformedURL
        // The scheme is always http or https, so this is about the answer.
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: self = .noHTTP
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: self = .hostNotFound
        case CURLE_COULDNT_CONNECT: self = .connectionRefused
        case CURLE_OPERATION_TIMEDOUT: self = .timedOut
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE, CURLE_HTTP2,
            CURLE_HTTP2_STREAM:
            self = .connectionLost
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS,
            CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CLIENTCERT, CURLE_USE_SSL_FAILED:
            self = .tls
        case CURLE_TOO_MANY_REDIRECTS: self = .tooManyRedirects
        default: self = .other(Int(result.rawValue))
        }
    }
}
