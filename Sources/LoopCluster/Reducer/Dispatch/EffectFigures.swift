/// What became of one feedback's effects in an epoch, in numbers.
package struct EffectFigures: Equatable, Sendable {
    /// The name of the feedback.
    package let feedback: String
    /// How many effects have completed, by their end or by an event of their own.
    package internal(set) var completed: UInt64 = 0
    /// How many attempts have ended without that, by the cause.
    package internal(set) var ends: [AttemptEnd.Cause: UInt64] = [:]
    /// How long effects have waited until they were granted for the first time, or again after their worker was lost. Those that
    /// have failed are left out, because they wait for the time of their next try.
    package internal(set) var waits = Histogram()
}
