public import Linux

/// An eventfd: any thread signals, and one thread watches the descriptor in its poll set. Several signals count as one.
public final class Wakeup: Sendable {
    private let event: Descriptor
    /// Becomes readable when there is a signal to drain. Closed with this object.
    public var descriptor: Int32 { event.number }

    /// - Throws: if no descriptors are free.
    public init() throws(SystemError) { event = try .event() }

    /// Makes the descriptor readable. Never waits.
    public func signal() { event.signal() }

    /// Takes all signals so far, so that the descriptor is unreadable until the next one. Never waits.
    public func drain() { event.drain() }
}
