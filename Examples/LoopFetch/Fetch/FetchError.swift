internal import CCurl

/// Why there is no answer.
public struct FetchError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What kind of thing went wrong.
    public enum Code: Equatable, Sendable {
        /// The URL is none, or one that is neither `http` nor `https`. Also for the target of a redirect.
        case malformedURL
        /// The name of the host could not be resolved.
        case hostNotFound
        /// Nothing accepted the connection.
        case connectionRefused
        /// The connection ended before the answer did.
        case connectionLost
        /// A limit of the request passed first.
        case timedOut
        /// No secure connection could be made: certificate, name, or protocol.
        case tls
        /// Redirects came back to where they had been, or there were more than the request allows.
        case tooManyRedirects
        /// The answer is not HTTP, or of a version that is not known here.
        case noHTTP
        /// The body is larger than the request allows.
        case bodyTooLarge
        /// The body has an encoding that was not requested, does not match its encoding, or ends too early.
        case unreadableBody
        /// The task was cancelled, or the fetcher shut down.
        case cancelled
        /// The fetcher could not be set up.
        case unavailable
        /// Anything else, by the number that libcurl gives it.
        case other(Int)
    }

    /// What kind of thing went wrong.
    public let code: Code

    /// The URL for which it went wrong: of the request, or of the last hop.
    public let url: String

    /// The status of the answer, or nil if none has come.
    public let status: Int?

    /// What went wrong, in a few words, such as `Connection refused`.
    public let reason: String

    /// The redirects that had been followed before.
    public let redirects: [FetchResponse.Hop]

    /// Whether the same request may succeed a little later.
    public let isTransient: Bool

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

    /// What went wrong, with which URL, in one line.
    public var description: String { "cannot fetch \(url): \(reason)" }
}

extension FetchError.Code {
    // A resolver does not tell a name that does not exist from one that it cannot ask for now.
    fileprivate var isUsuallyTransient: Bool {
        switch self {
        case .hostNotFound, .connectionRefused, .connectionLost, .timedOut: true
        case .malformedURL, .tls, .tooManyRedirects, .noHTTP, .bodyTooLarge, .unreadableBody, .cancelled, .unavailable,
            .other:
            false
        }
    }

    /// The kind that a result of libcurl stands for (https://curl.se/libcurl/c/libcurl-errors.html).
    init(_ result: CURLcode) {
        switch result {
        case CURLE_URL_MALFORMAT: self = .malformedURL
        // The scheme is always http or https, so these errors are about the answer.
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
        case CURLE_FILESIZE_EXCEEDED: self = .bodyTooLarge
        default: self = .other(Int(result.rawValue))
        }
    }
}
