public import LoopCore

/// Why a server gave no answer that can be used.
public struct ServerFailure: RetryAdvice, Equatable, CustomStringConvertible {
    /// What went wrong, for people: `the server answered 500`.
    public let description: String
    public let isTransient: Bool
    public let retryAfter: Duration?
    /// The HTTP status; nil where there was no answer.
    public let status: Int?

    /// No answer, or none that can be read.
    public init(_ description: String, isTransient: Bool) {
        self.description = description
        self.isTransient = isTransient
        retryAfter = nil
        status = nil
    }

    /// An answer of another status than 200.
    /// - Parameter retryAfterSeconds: what the answer's `Retry-After` asks for.
    public init(status: Int, retryAfterSeconds: Int? = nil) {
        description = status == 429 ? "the server asks for patience (429)" : "the server answered \(status)"
        isTransient = status == 408 || status == 429 || (500..<600).contains(status)
        retryAfter = retryAfterSeconds.map { .seconds(max($0, 0)) }
        self.status = status
    }
}
