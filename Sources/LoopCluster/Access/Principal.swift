public import LoopKeys

/// The identity of a message's sender, as its connection proves it. What the message claims does not count.
public enum Principal: Hashable, Sendable {
    /// The peer of the reducer's own process.
    case local
    /// A connection without a key. Nothing is known of its peer.
    case unknown
    /// A connection without a key, from another machine: its IPv4 address, or the first 64 bits of its IPv6 address.
    case address(String)
    /// The owner of a key that was admitted when the connection was made. It may have been removed since.
    case key(PublicKey)
}
