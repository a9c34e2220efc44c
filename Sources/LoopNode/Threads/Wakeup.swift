import Linux

/// An eventfd: any thread signals, and one thread watches the descriptor in its poll set. Several signals count as one.
package final class Wakeup: Sendable {
    private let event: Descriptor
    /// Becomes readable when there is a signal to drain. Closed with this object.
    package var descriptor: Int32 { event.number }

    /// - Throws: if no descriptors are free.
    package init() throws(SystemError) { event = try .event() }

    /// Makes the descriptor readable. Never waits.
    package func signal() { event.signal() }

    /// Takes all signals so far, so that the descriptor is unreadable until the next one. Never waits.
    package func drain() { event.drain() }
}
