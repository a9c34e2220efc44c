import LoopWire

/// The numbered messages of one epoch that a peer has applied, and has reported as applied. (Protocol, section 5.)
struct PeerInbox: Equatable, Sendable {
    /// The number of the newest message that was applied.
    private(set) var applied: UInt64 = 0
    /// The newest number that was reported to the reducer.
    private var reported: UInt64 = 0
    /// The reducer's clock, by its newest tick.
    private(set) var echo: UInt64 = 0

    private static var unreportedMax: UInt64 { 64 }

    /// Whether to report at once, because the reducer sends no more than its window.
    var isReportDue: Bool { applied - reported >= Self.unreportedMax }

    /// Takes note that a heartbeat reports what is applied.
    mutating func report() { reported = applied }

    /// Takes note that everything up to this number is applied.
    mutating func apply(upTo number: UInt64) { applied = max(applied, number) }

    mutating func hear(_ tick: Tick) { echo = max(echo, tick.stamp) }
}

/// The parts of one assignment that have come, in order. They are applied together. (Protocol, section 5.)
struct AssignmentParts: Equatable, Sendable {
    /// The parts that have come, merged.
    private var begun: Assignments?

    init() {}

    /// Takes a part. A part that is not the next one of this assignment ends the assignment, unless it begins another.
    /// - Returns: the whole assignment, or nil if more parts have to come.
    mutating func add(_ part: Assignments) -> Assignments? {
        if part.part == 0 {
            begun = part
        } else {
            // Taken out first, so that adding its grants makes no copy.
            guard var whole = begun.take(), whole.number == part.number, whole.watermark == part.watermark,
                whole.parts == part.parts, whole.part + 1 == part.part
            else { return nil }
            whole.part = part.part
            whole.grants += part.grants
            begun = whole
        }
        return part.part + 1 == part.parts ? begun.take() : nil
    }
}
