internal import LoopCollections

/// A queue from other threads to one that polls. The whole queue is taken at once, and only a post to an empty queue writes the
/// eventfd, so that a burst costs one wake-up.
///
/// It has no bound of its own: each poster needs a permit (a credit, or a slot of an outbox), and their number is fixed.
package final class Mailbox<Element: Sendable>: Sendable {
    private let elements = Locked<[Element]>([])
    private let wakeup: Wakeup

    /// - Throws: if no descriptors are free.
    package init() throws(SystemError) { wakeup = try Wakeup() }

    /// Becomes readable when there is something to take.
    package var descriptor: Int32 { wakeup.descriptor }

    /// Appends one element. From any thread; never waits.
    package func post(_ element: Element) {
        let wasEmpty = elements.withLock { elements in
            elements.append(element)
            return elements.count == 1
        }
        if wasEmpty { wakeup.signal() }
    }

    /// Takes everything, in the order of posting. `elements` gives its storage in exchange, so that two arrays suffice.
    ///
    /// Only the owner calls this.
    package func takeAll(into elements: inout [Element]) {
        elements.removeAll(keepingCapacity: true)
        // The descriptor is drained first, so that a post after the exchange finds an empty queue and signals again.
        wakeup.drain()
        var spare = elements
        elements = []
        self.elements.withLock { swap(&$0, &spare) }
        elements = spare
    }
}
