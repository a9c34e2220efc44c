public import Synchronization

// Unsafe: this object allocates the memory of the value before it creates it, and frees it after it has destroyed it.

/// A value that one thread at a time uses, because its users have agreed by other means which of them it is.
///
/// There is no lock, and nothing waits. A use during another one is a mistake and stops the process: always on one thread, and most
/// likely on two.
@safe
@usableFromInline package final class Exclusive<Value: ~Copyable>: @unchecked Sendable {
    @usableFromInline let place: UnsafeMutablePointer<Value>
    @usableFromInline let isUsed = Atomic(false)

    /// Creates an exclusive `value`.
    package init(_ value: consuming sending Value) {
        unsafe place = .allocate(capacity: 1)
        unsafe place.initialize(to: value)
    }

    deinit {
        unsafe place.deinitialize(count: 1)
        unsafe place.deallocate()
    }

    /// Runs `body` with the value.
    ///
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws.
    @inlinable
    package func withValue<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(!isUsed.load(ordering: .relaxed), "a value is used by two at once")
        isUsed.store(true, ordering: .relaxed)
        defer { isUsed.store(false, ordering: .relaxed) }
        return try unsafe body(&place.pointee)
    }
}
