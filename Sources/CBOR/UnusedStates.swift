internal import LoopCollections
internal import Synchronization

// Unsafe: a state is never freed, and has one owner: the pool, or the coding that took it.

/// The coding states that no coding uses now.
///
/// The state that was given back last is exchanged by one atomic operation. So a thread that codes one value after another takes
/// no lock.
@safe final class UnusedStates<State>: @unchecked Sendable {
    private let last = Atomic<UInt>(0)
    private let others = Locked<[UInt]>([])

    /// Takes a state, or returns nil if all are in use.
    func take() -> UnsafeMutablePointer<State>? {
        let state = last.exchange(0, ordering: .acquiring)
        return unsafe UnsafeMutablePointer(bitPattern: state != 0 ? state : others.withLock { $0.popLast() } ?? 0)
    }

    /// Takes a state back.
    func give(_ state: UnsafeMutablePointer<State>) {
        let other = last.exchange(UInt(bitPattern: state), ordering: .acquiringAndReleasing)
        if other != 0 { others.withLock { $0.append(other) } }
    }
}
