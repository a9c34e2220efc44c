package import LoopWire

/// A sender's stream, which outlives its process: its session, how far it is settled, and the entries that are not.
///
///     base ─┬─ settled ─┬─ offered ─┬─ last      numbers of the session; its sender adds `base` to them
///           │  known    │  may have │  never
///           │           │  left     │  left
package struct PeerStream: Equatable, Sendable {
    /// The history of the session, or `.none` before the first.
    package var history: History
    /// The newest epoch in which the peer was admitted, or `.none` before the first.
    package var epoch: Epoch
    /// The session, or `.none` if it never had one, and nothing has left.
    package var session: SessionID
    /// The difference between the number under which a sender knows an entry and its number in this session.
    package var base: UInt64
    /// Every outcome up to this number is known.
    package var settled: UInt64
    /// Numbers up to this one may have left.
    package var offered: UInt64
    /// The entries from `settled + 1` on.
    package var entries: [Entry]

    /// Creates an empty stream.
    package init() {
        history = .none
        epoch = .none
        session = .none
        base = 0
        settled = 0
        offered = 0
        entries = []
    }

    /// The number of the last entry.
    package var last: UInt64 { settled + UInt64(entries.count) }
}
