internal import LoopLock

/// A queue from other threads to one that polls. The whole queue is taken at once, and only a post to an empty queue writes the
/// eventfd, so that a burst costs one wake-up.
///
/// It has no bound of its own: each poster needs a permit (a credit, or a slot of an outbox), and their number is fixed.
public final class Mailbox<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var isClosed = false
    }

    private let state = Locked(State())
    private let wakeup: Wakeup

    /// - Throws: if no descriptors are free.
    public init() throws(SystemError) { wakeup = try Wakeup() }

    /// Becomes readable when there is something to take, and stays so once the mailbox is closed.
    public var descriptor: Int32 { wakeup.descriptor }

    /// Appends one element. From any thread; never waits.
    ///
    /// - Returns: false after ``close()``, because the element will not be taken.
    @discardableResult
    public func post(_ element: Element) -> Bool {
        let (accepted, wasEmpty) = state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            state.elements.append(element)
            return (true, state.elements.count == 1)
        }
        if wasEmpty { wakeup.signal() }
        return accepted
    }

    /// Takes everything, in the order of posting. `elements` gives its storage in exchange, so that two arrays suffice.
    ///
    /// Only the owner calls this.
    public func takeAll(into elements: inout [Element]) {
        elements.removeAll(keepingCapacity: true)
        // The descriptor is drained first, so that a post after the exchange finds an empty queue and signals again.
        wakeup.drain()
        var spare = elements
        elements = []
        state.withLock { swap(&$0.elements, &spare) }
        elements = spare
    }

    /// Refuses all later posts, and wakes the owner. Earlier elements can still be taken.
    public func close() {
        state.withLock { $0.isClosed = true }
        wakeup.signal()
    }

    /// Whether ``close()`` was called.
    public var isClosed: Bool { state.withLock { $0.isClosed } }
}
