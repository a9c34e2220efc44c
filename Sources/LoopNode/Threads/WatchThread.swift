import LoopCollections

/// A thread that watches something until this object is released.
final class WatchThread: Sendable {
    private let isOver: Monitor<Bool>

    /// - Parameters:
    ///   - name: shown by `top` and debuggers, up to 15 bytes.
    ///   - body: called on the thread, which ends with it. It gets a function that waits for a while and returns whether to go on.
    /// - Throws: `NodeError.system` if no thread can be started.
    init(_ name: String, body: @escaping @Sendable (_ goesOnAfter: (Duration) -> Bool) -> Void) throws(NodeError) {
        let isOver = Monitor(false)
        self.isOver = isOver
        do throws(SystemError) {
            _ = try NodeThread(name, stackBytes: 1 << 20) {
                body { duration in !isOver.wait(until: { $0 }, timeout: duration) }
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
