public import Linux

/// An eventfd: any thread signals, one thread watches the descriptor in its poll set. Signals add up to one.
public final class Wakeup: Sendable {
    private let event: Descriptor
    /// Readable while a signal has not been drained. Closed with this object.
    public var descriptor: Int32 { event.number }

    /// - Throws: when there are no descriptors left.
    public init() throws(SystemError) { event = try .event() }

    /// Makes the descriptor readable. Never waits.
    public func signal() { event.signal() }

    /// Takes all signals so far; the descriptor is unreadable until the next. Never waits.
    public func drain() { event.drain() }
}
