// Unsafe: a state belongs to the coding that began it, then to the pool. The one that gives it up frees it.

/// The pool of encoding states.
extension EncodingCore {
    private static let pool = CorePool<State>()

    /// An empty state for one value. The caller ends it.
    static func begin(_ limits: CBORLimits, _ userInfo: [CodingUserInfoKey: any Sendable]?) -> EncodingCore {
        let core = unsafe EncodingCore(state: pool.take() ?? fresh())
        unsafe core.state.pointee.depthMax = limits.depthMax
        if let userInfo, !userInfo.isEmpty { unsafe core.state.pointee.userInfo = userInfo }
        return core
    }

    /// A copy of the written bytes.
    func written() -> [UInt8] { unsafe Array(UnsafeBufferPointer(start: log.base, count: log.count)) }

    private static func fresh() -> UnsafeMutablePointer<State> {
        let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        unsafe state.initialize(to: State())
        return unsafe state
    }

    /// Gives the state back, empty.
    func end() {
        nodes.empty(keeping: 1 << 12, or: 16)
        entries.empty(keeping: 1 << 16, or: 32)
        spans.empty(keeping: 1 << 12, or: 128)
        unsafe state.pointee.quickBox = nil
        floor = 0
        if hasFailed { failure = nil }
        if unsafe !state.pointee.userInfo.isEmpty { unsafe state.pointee.userInfo = [:] }
        log.count = 0
        if log.capacity > 1 << 20 { log.shrink(to: 512) }
        if scratch.capacity > 1 << 20 { scratch.shrink(to: 256) }
        if unsafe !Self.pool.give(state) { free() }
    }

    private func free() {
        log.free()
        scratch.free()
        nodes.free()
        entries.free()
        spans.free()
        unsafe state.pointee.keys.free { $0.free() }
        unsafe state.pointee.encodings.free { _ in }
        unsafe state.deinitialize(count: 1)
        unsafe state.deallocate()
    }
}
