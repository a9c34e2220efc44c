/// The reason why an effect has failed for good. It is the same in one process and on a worker: the text of the error that
/// the body has thrown.
public struct EffectFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What ended the last attempt.
    public enum Cause: Hashable, Sendable {
        /// The body has thrown an error, or the worker could not read the request.
        case failed
        /// The attempt has taken longer than the policy's timeout.
        case timedOut
    }

    /// What ended the last attempt.
    public let cause: Cause
    /// The text of the error, of at most 1,000 Unicode scalars.
    public let message: String

    /// Creates a failure from its parts. A message over the limit is truncated.
    package init(_ cause: Cause, message: String) {
        self.cause = cause
        self.message = String(message.unicodeScalars.prefix(1000))
    }

    /// Creates the failure of an error that a body has thrown.
    package init(_ error: any Error) { self = error as? EffectFailure ?? EffectFailure(.failed, message: "\(error)") }

    /// The failure of an attempt that has not ended within the policy's timeout.
    package static func timedOut(limit: Duration) -> EffectFailure {
        EffectFailure(.timedOut, message: "no end within \(limit)")
    }

    /// The message.
    public var description: String { message }
}
