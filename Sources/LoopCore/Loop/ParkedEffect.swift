/// An effect that has failed for good and has no event to say so. It stays, visible, until its request vanishes or
/// somebody has it tried again.
public struct ParkedEffect: Equatable, Sendable {
    /// The effect's name in the loop, by which it is tried again.
    public let id: EffectID
    /// The name of its feedback.
    public let feedback: String
    /// How many attempts have failed.
    public let failures: Int
    /// The last error, in words.
    public let reason: String

    /// Creates a parked effect from its parts.
    public init(id: EffectID, feedback: String, failures: Int, reason: String) {
        self.id = id
        self.feedback = feedback
        self.failures = failures
        self.reason = reason
    }
}
