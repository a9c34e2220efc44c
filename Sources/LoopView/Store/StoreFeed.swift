internal import LoopLock

/// What a store has learned, and the task that goes on learning until the store is released.
final class StoreFeed<Value: Sendable>: Sendable {
    let value: Locked<Value>
    private let task = Locked<Task<Void, Never>?>(nil)

    init(_ initial: Value) { value = Locked(initial) }

    deinit { task.withLock { $0 }?.cancel() }

    /// Runs `body`, which gets the store for as long as it is there.
    func follow<Owner: AnyObject & Sendable>(
        by owner: Owner, _ body: @escaping @Sendable (_ owner: @Sendable () -> Owner?) async -> Void
    ) {
        let find: @Sendable () -> Owner? = { [weak owner] in owner }
        // Detached: nobody waits for it, and the end of this object cancels it.
        let new = Task.detached { await body(find) }
        task.withLock { $0 = new }
    }
}
