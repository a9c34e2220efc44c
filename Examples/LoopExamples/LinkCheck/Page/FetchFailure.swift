internal import LoopCore
internal import LoopFetch

/// The reason why a URL has no good answer, with equal text in every run.
struct FetchFailure: RetryAdvice, Equatable, CustomStringConvertible {
    /// The HTTP status, or nil if there was no answer.
    var status: Int?
    /// The reason, or nil if the status says it.
    var reason: String?
    var isTransient: Bool
    var retryAfter: Duration?

    var description: String { reason ?? status.map { "status \($0)" } ?? "no answer" }

    /// The longest wait that a server may request. A fetch that must wait longer has failed.
    static let patience = Duration.seconds(300)

    /// Creates a failure that a retry may overcome, or returns nil for any other status.
    init?(status: Int, retryAfterSeconds: Int?) {
        guard status == 408 || status == 429 || (500..<600).contains(status) else { return nil }
        self.status = status
        retryAfter = retryAfterSeconds.map { .seconds(max($0, 0)) }
        isTransient = retryAfter.map { $0 <= Self.patience } ?? true
    }

    init(_ error: FetchError) {
        if let status = error.status, status >= 400 {
            // The status is the reason, whether or not its body can be read.
            self.status = status
            isTransient = FetchFailure(status: status, retryAfterSeconds: nil)?.isTransient ?? false
            return
        }
        status = error.status
        reason = Self.words(error)
        isTransient = error.isTransient
    }

    // Our own texts, because libcurl's messages contain times and addresses.
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
        case .headersTooLong: "headers too long"
        case .unreadableBody: "not read: \(error.reason)"
        case .cancelled, .unavailable: "could not be fetched"
        case .other(let number): "libcurl error \(number)"
        }
    }
}
