public import LoopWire

/// A sender's stream as it outlives its process: which session it is, how far it is settled, and what is not.
///
///     base ─┬─ settled ─┬─ offered ─┬─ last      numbers of the session; its sender knows them with `base` added
///           │  known    │  may have │  never
///           │           │  left     │  left
public struct PeerStream: Equatable, Sendable {
    /// The history of the session; `.none` before the first.
    public var history: History
    /// The newest epoch that the peer was admitted in; `.none` before the first.
    public var epoch: Epoch
    /// `.none`: it never had one, and nothing has left.
    public var session: SessionID
    /// What is added to a number of this session to get the one under which its sender knows the entry.
    public var base: UInt64
    /// Every outcome up to this number is known.
    public var settled: UInt64
    /// Numbers up to this one may have left.
    public var offered: UInt64
    /// The entries from `settled + 1` on.
    public var entries: [Entry]

    /// A stream that begins.
    public init() {
        history = .none
        epoch = .none
        session = .none
        base = 0
        settled = 0
        offered = 0
        entries = []
    }

    /// The number of the last entry.
    public var last: UInt64 { settled + UInt64(entries.count) }
}
