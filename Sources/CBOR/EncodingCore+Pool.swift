// Unsafe: a state is owned by whoever began it, then by the pool, and freed by whichever gives it up.

/// Where encoding states come from and go to.
extension EncodingCore {
    private static let pool = CorePool<State>()

    /// An empty state of one's own. Whoever begins ends.
    static func begin(_ limits: CBORLimits, _ userInfo: [CodingUserInfoKey: any Sendable]?) -> EncodingCore {
        let core = unsafe EncodingCore(state: pool.take() ?? fresh())
        unsafe core.state.pointee.depthMax = limits.depthMax
        if let userInfo, !userInfo.isEmpty { unsafe core.state.pointee.userInfo = userInfo }
        return core
    }

    /// What was written, as an array.
    func written() -> [UInt8] { unsafe Array(UnsafeBufferPointer(start: log.base, count: log.count)) }

    private static func fresh() -> UnsafeMutablePointer<State> {
        let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        unsafe state.initialize(to: State())
        return unsafe state
    }

    /// Gives the state back, empty.
    func end() {
        log.count = 0
        nodeCount = 0
        entryCount = 0
        unsafe state.pointee.spanCount = 0
        unsafe state.pointee.quickBox = nil
        floor = 0
        if hasFailed { failure = nil }
        if unsafe !state.pointee.userInfo.isEmpty { unsafe state.pointee.userInfo = [:] }
        if log.capacity > 1 << 20 { log.shrink(to: 512) }
        if scratch.capacity > 1 << 20 { scratch.shrink(to: 256) }
        if unsafe state.pointee.nodeCapacity > 1 << 12 {
            unsafe nodes.deallocate()
            unsafe state.pointee.nodeCapacity = 16
            unsafe nodes = .allocate(capacity: 16)
        }
        if unsafe state.pointee.entryCapacity > 1 << 16 {
            unsafe entries.deallocate()
            unsafe state.pointee.entryCapacity = 32
            unsafe entries = .allocate(capacity: 32)
        }
        if unsafe state.pointee.spanCapacity > 1 << 12 {
            unsafe state.pointee.spans.deallocate()
            unsafe state.pointee.spanCapacity = 128
            unsafe state.pointee.spans = .allocate(capacity: 128)
        }
        if unsafe !Self.pool.give(state) { free() }
    }

    private func free() {
        log.free()
        scratch.free()
        unsafe nodes.deallocate()
        unsafe entries.deallocate()
        unsafe state.pointee.spans.deallocate()
        unsafe state.pointee.keys.free { $0.free() }
        unsafe state.pointee.shapes.free { _ in }
        unsafe state.pointee.spareShape.deinitialize(count: 1)
        unsafe state.pointee.spareShape.deallocate()
        unsafe state.deinitialize(count: 1)
        unsafe state.deallocate()
    }
}
