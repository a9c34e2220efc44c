/// An effect that has failed for good and has no event for it. It remains listed until its request vanishes or it is retried.
public struct ParkedEffect: Equatable, Sendable {
    /// The effect's ID in the loop, by which it can be retried.
    public let id: EffectID
    /// The name of its feedback.
    public let feedback: String
    /// How many attempts have failed.
    public let failures: Int
    /// The text of the last error.
    public let reason: String

    /// Creates a parked effect from its parts.
    public init(id: EffectID, feedback: String, failures: Int, reason: String) {
        self.id = id
        self.feedback = feedback
        self.failures = failures
        self.reason = reason
    }
}
