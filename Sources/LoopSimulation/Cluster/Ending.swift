import LoopCore

/// How the loop ends, and the plan's faults for that moment.
struct Ending {
    /// The loop's outcome, as far as the journal has it.
    var outcome: Outcome?
    /// Whether the plan's fault after the end has come.
    var hasFaultAtEnd = false
    /// Whether the late processes have come. They start when all others know of the end.
    var haveLatecomersCome = false
}
