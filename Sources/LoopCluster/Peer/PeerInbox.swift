import LoopCore
import LoopWire

/// How far a peer has applied the numbered messages of one epoch, and has said so. (Protocol, section 5.)
struct PeerInbox: Equatable, Sendable {
    /// The number of the newest message that is applied.
    private(set) var applied: UInt64 = 0
    /// The newest number of which the reducer was told.
    private var reported: UInt64 = 0
    /// The reducer's clock, by its newest tick.
    private(set) var echo: UInt64 = 0

    private static var unreportedMax: UInt64 { 64 }

    /// Whether the reducer should be told at once: it sends no more than its window.
    var isReportDue: Bool { applied - reported >= Self.unreportedMax }

    /// A heartbeat leaves.
    mutating func report() { reported = applied }

    /// Everything up to this number is applied.
    mutating func apply(upTo number: UInt64) { applied = max(applied, number) }

    mutating func hear(_ tick: Tick) { echo = max(echo, tick.stamp) }
}

/// The parts of one assignment that have come, in their order. They are applied together. (Protocol, section 5.)
struct AssignmentParts: Equatable, Sendable {
    /// The parts so far, put together.
    private var begun: Assignments?

    init() {}

    /// Takes a part. One that is not the next part of this assignment ends it, unless it begins another.
    /// - Returns: the whole assignment, if this is its last part.
    mutating func add(_ part: Assignments) -> Assignments? {
        if part.part == 0 {
            begun = part
        } else {
            // Taken out, so that its grants are added to in place.
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
