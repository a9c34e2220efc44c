/// Where encoding states come from and go to.
extension EncodingCore {
    private static let pool = CorePool<State>()

    /// Gives `body` a state of its own, empty, and takes it back.
    static func withCore<R>(
        _ limits: CBORLimits, _ userInfo: [CodingUserInfoKey: any Sendable],
        _ body: (EncodingCore) throws(WireError) -> R
    ) throws(WireError) -> R {
        let core = EncodingCore(state: pool.take() ?? fresh())
        core.state.pointee.depthMax = limits.depthMax
        core.state.pointee.userInfo = userInfo
        defer { core.giveBack() }
        return try body(core)
    }

    private static func fresh() -> UnsafeMutablePointer<State> {
        let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        state.initialize(to: State())
        return state
    }

    private func giveBack() {
        log.count = 0
        nodeCount = 0
        entryCount = 0
        floor = 0
        failure = nil
        state.pointee.userInfo = [:]
        let isSmall =
            log.capacity <= 1 << 20 && scratch.capacity <= 1 << 20 && state.pointee.nodeCapacity <= 1 << 12
            && state.pointee.entryCapacity <= 1 << 16
        if isSmall, Self.pool.give(state) { return }
        log.free()
        scratch.free()
        nodes.deallocate()
        entries.deallocate()
        state.deinitialize(count: 1)
        state.deallocate()
    }
}
