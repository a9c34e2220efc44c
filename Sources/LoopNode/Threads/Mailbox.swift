internal import LoopLock

/// What other threads hand to the one that polls: the whole queue is taken at once, and the eventfd is written only
/// by who finds it empty, so a burst costs one wake-up.
///
/// It has no bound of its own: who posts holds a permit (a credit, a slot of an outbox) of which there is a fixed number.
public final class Mailbox<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var isClosed = false
    }

    private let state = Locked(State())
    private let wakeup: Wakeup

    /// - Throws: when there are no descriptors left.
    public init() throws(SystemError) { wakeup = try Wakeup() }

    /// Readable when there is something to take, or since the mailbox was closed.
    public var descriptor: Int32 { wakeup.descriptor }

    /// Puts one element behind the others. From any thread; never waits.
    ///
    /// - Returns: false after ``close()``: it will not be taken.
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

    /// Takes everything, in the order of posting. `elements` gives its storage in exchange, so two arrays suffice for life.
    ///
    /// Only the owner calls this.
    public func takeAll(into elements: inout [Element]) {
        elements.removeAll(keepingCapacity: true)
        // Drained first: what is posted behind the exchange finds the queue empty and signals again.
        wakeup.drain()
        var spare = elements
        elements = []
        state.withLock { swap(&$0.elements, &spare) }
        elements = spare
    }

    /// Refuses whatever is posted from now on, and wakes the owner; what was posted before can still be taken.
    public func close() {
        state.withLock { $0.isClosed = true }
        wakeup.signal()
    }

    /// Whether ``close()`` was called.
    public var isClosed: Bool { state.withLock { $0.isClosed } }
}
