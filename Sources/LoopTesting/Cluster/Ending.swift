import LoopCore

/// How the loop ends, and what the plan has for that moment.
struct Ending {
    /// The loop's outcome, as far as the journal knows.
    var outcome: Outcome?
    /// Whether the plan's fault after the end has come.
    var hasFaultAtEnd = false
    /// Whether the late processes have come, which start when all others know of the end.
    var haveLatecomersCome = false
}
