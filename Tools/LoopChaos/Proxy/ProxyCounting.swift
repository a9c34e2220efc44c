import LoopLock

/// Counts that the proxy's thread writes and others read.
final class ProxyCounting: Sendable {
    private let locked = Locked(FaultProxy.Counts())

    var counts: FaultProxy.Counts { locked.withLock { $0 } }

    func add(_ path: WritableKeyPath<FaultProxy.Counts, Int>, _ amount: Int = 1) {
        locked.withLock { $0[keyPath: path] += amount }
    }
}
