public import LoopWire

/// One entry of one session.
public struct EntryNumber: Equatable, Sendable {
    /// The session that granted the number.
    public var session: SessionID
    /// The entry's number in its session, from 1.
    public var number: UInt64

    /// Creates the name of an entry from its parts.
    public init(session: SessionID, number: UInt64) {
        self.session = session
        self.number = number
    }
}
