/// Where encoding states come from and go to.
extension EncodingCore {
    private static let pool = CorePool<State>()

    /// An empty state of one's own. Whoever begins ends.
    static func begin(_ limits: CBORLimits, _ userInfo: [CodingUserInfoKey: any Sendable]?) -> EncodingCore {
        let core = EncodingCore(state: pool.take() ?? fresh())
        core.state.pointee.depthMax = limits.depthMax
        if let userInfo, !userInfo.isEmpty { core.state.pointee.userInfo = userInfo }
        return core
    }

    /// What was written, as an array.
    func written() -> [UInt8] { Array(UnsafeBufferPointer(start: log.base, count: log.count)) }

    private static func fresh() -> UnsafeMutablePointer<State> {
        let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        state.initialize(to: State())
        return state
    }

    /// Gives the state back, empty.
    func end() {
        log.count = 0
        nodeCount = 0
        entryCount = 0
        state.pointee.spanCount = 0
        state.pointee.quickBox = nil
        floor = 0
        if hasFailed { failure = nil }
        if !state.pointee.userInfo.isEmpty { state.pointee.userInfo = [:] }
        if log.capacity > 1 << 20 { log.shrink(to: 512) }
        if scratch.capacity > 1 << 20 { scratch.shrink(to: 256) }
        if state.pointee.nodeCapacity > 1 << 12 {
            nodes.deallocate()
            state.pointee.nodeCapacity = 16
            nodes = .allocate(capacity: 16)
        }
        if state.pointee.entryCapacity > 1 << 16 {
            entries.deallocate()
            state.pointee.entryCapacity = 32
            entries = .allocate(capacity: 32)
        }
        if state.pointee.spanCapacity > 1 << 12 {
            state.pointee.spans.deallocate()
            state.pointee.spanCapacity = 128
            state.pointee.spans = .allocate(capacity: 128)
        }
        if !Self.pool.give(state) { free() }
    }

    private func free() {
        log.free()
        scratch.free()
        nodes.deallocate()
        entries.deallocate()
        state.pointee.spans.deallocate()
        state.pointee.keys.free { $0.free() }
        state.pointee.shapes.free { _ in }
        state.pointee.spareShape.deinitialize(count: 1)
        state.pointee.spareShape.deallocate()
        state.deinitialize(count: 1)
        state.deallocate()
    }
}
