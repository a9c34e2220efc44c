internal import LoopCore
internal import LoopFetch

/// Why a URL has no good answer, with the same text in every run.
struct FetchFailure: RetryAdvice, Equatable {
    /// The HTTP status, where there was one.
    var status: Int?
    /// What went wrong; nil where the status says it.
    var reason: String?
    var isTransient: Bool
    var retryAfter: Duration?

    /// The longest wait that a server may ask for; a fetch that must wait longer has failed.
    static let patience = Duration.seconds(300)

    /// A failure that a later try may overcome; nil for any other.
    init?(status: Int, retryAfterSeconds: Int?) {
        guard status == 408 || status == 429 || (500..<600).contains(status) else { return nil }
        self.status = status
        retryAfter = retryAfterSeconds.map { .seconds(max($0, 0)) }
        isTransient = retryAfter.map { $0 <= Self.patience } ?? true
    }

    init(_ error: FetchError) {
        status = error.status
        reason = Self.words(error)
        isTransient = error.isTransient
    }

    // libcurl's own messages contain times and addresses.
    private static func words(_ error: FetchError) -> String {
        switch error.code {
        case .malformedURL: "malformed URL"
        case .hostNotFound: "host not found"
        case .connectionRefused: "connection refused"
        case .connectionLost: "connection lost"
        case .timedOut: "timed out"
        case .tls: "no secure connection"
        case .tooManyRedirects: "too many redirects"
        case .noHTTP: "no HTTP answer"
        case .bodyTooLarge: "body too large"
        case .unreadableBody: "not read: \(error.reason)"
        case .cancelled, .unavailable: "could not be fetched"
        case .other(let number): "libcurl error \(number)"
        }
    }
}
