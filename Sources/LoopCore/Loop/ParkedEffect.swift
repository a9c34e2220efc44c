/// An effect that has failed for good and has no event to say so. It stays, visible, until its request vanishes or
/// somebody has it tried again.
public struct ParkedEffect: Equatable, Sendable {
    public let id: EffectID
    /// The name of its feedback.
    public let feedback: String
    /// How many attempts have failed.
    public let failures: Int
    /// The last error, in words.
    public let reason: String

    public init(id: EffectID, feedback: String, failures: Int, reason: String) {
        self.id = id
        self.feedback = feedback
        self.failures = failures
        self.reason = reason
    }
}
