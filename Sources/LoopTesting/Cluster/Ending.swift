import LoopCore

/// How the loop ends, and what was planned for then.
struct Ending {
    /// The loop's outcome, as far as the journal knows.
    var outcome: Outcome?
    /// Whether the plan's fault after the end has come.
    var hasFaultAtEnd = false
    /// Whether those have come who come when all others have learned of the end.
    var haveLatecomersCome = false
}
