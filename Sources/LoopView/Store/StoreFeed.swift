internal import LoopLock

/// What a store knows, and the task that receives updates until the store is released.
final class StoreFeed<Value: Sendable>: Sendable {
    let value: Locked<Value>
    private let task = Locked<Task<Void, Never>?>(nil)

    init(_ initial: Value) { value = Locked(initial) }

    deinit { task.withLock { $0 }?.cancel() }

    /// Runs `body`, which can get the store while it exists.
    func follow<Owner: AnyObject & Sendable>(
        by owner: Owner, _ body: @escaping @Sendable (_ owner: @Sendable () -> Owner?) async -> Void
    ) {
        let find: @Sendable () -> Owner? = { [weak owner] in owner }
        // Detached, because no task waits for it, and the end of this object cancels it.
        let new = Task.detached { await body(find) }
        task.withLock { $0 = new }
    }
}
