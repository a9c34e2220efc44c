import LoopLock

/// Checks a reducer's folder of keys four times a second, on a separate thread, and reports changes.
final class KeyWatch: Sendable {
    private static let interval = Duration.milliseconds(250)

    private let isOver: Monitor<Bool>

    /// - Parameter changed: called with each change, on that thread.
    /// - Throws: if no thread can be started.
    init(_ ring: KeyRing, changed: @escaping @Sendable (KeyRing.Change) -> Void) throws(NodeError) {
        let isOver = Monitor(false)
        self.isOver = isOver
        do throws(SystemError) {
            _ = try NodeThread("loop-keys", stackBytes: 1 << 20) {
                while !isOver.wait(until: { $0 }, timeout: Self.interval) {
                    if let change = ring.refresh() { changed(change) }
                }
            }
        } catch {
            throw .system("\(error)")
        }
    }

    deinit {
        isOver.withLock { $0 = true }
        isOver.broadcast()
    }
}
