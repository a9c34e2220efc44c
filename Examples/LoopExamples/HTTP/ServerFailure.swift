import LoopCore

/// The reason why a server gave no usable answer.
package struct ServerFailure: RetryAdvice, Equatable, CustomStringConvertible {
    /// The reason as text for people: `the server answered 500`.
    package let description: String
    package let isTransient: Bool
    package let retryAfter: Duration?
    /// The HTTP status, or nil if there was no answer.
    package let status: Int?

    /// Creates a failure without a readable answer.
    package init(_ description: String, isTransient: Bool) {
        self.description = description
        self.isTransient = isTransient
        retryAfter = nil
        status = nil
    }

    /// Creates a failure for an answer whose status is not 200.
    /// - Parameter retryAfterSeconds: the value of the answer's `Retry-After`.
    package init(status: Int, retryAfterSeconds: Int? = nil) {
        description = status == 429 ? "the server asks for patience (429)" : "the server answered \(status)"
        isTransient = status == 408 || status == 429 || (500..<600).contains(status)
        retryAfter = retryAfterSeconds.map { .seconds(max($0, 0)) }
        self.status = status
    }
}
