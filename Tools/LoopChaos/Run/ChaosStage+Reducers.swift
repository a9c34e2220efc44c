import CBOR
import LoopNode

// With several reducers: which one leads, and the state of each.
extension ChaosStage {
    /// The process or server that a fault affects now.
    func resolve(_ target: Target, _ fault: Fault) async -> Target {
        switch target {
        case .leader: return .member(await leader())
        case .standby:
            let leader = await leader()
            let others = (1...plan.reducers).filter { $0 != leader }
            // One of the others, chosen by the schedule.
            return .member(others[Int(fault.at / .milliseconds(1)) % others.count])
        default: return target
        }
    }

    /// The number of the reducer that leads, or of the last known one if none reports that it leads.
    private func leader() async -> Int {
        let address = reducerAddress
        let found = try? await network.space(FaultNetwork.reducerHost).run("chaos-leader") {
            try StatusProbe.leader(of: address, within: .milliseconds(300)).address
        }
        let index = found.flatMap { reducerAddress.each.firstIndex(of: $0) }
        return lastLeader.withLock { last in
            if let index { last = index + 1 }
            return last
        }
    }

    /// The state that each reducer reports as the leader. They are stopped in turn, in an orderly way, and all are started again.
    func statesOfReducers(within limit: Duration) async throws -> [String: String] {
        var states: [String: String] = [:]
        var stopped: [ChaosProcess] = []
        for _ in 1...plan.reducers {
            let last = try await lastState(within: limit)
            let target = Target.member(await leader())
            guard let last, states[target.description] == nil, let process = process(target) else { break }
            states[target.description] = try CBOR.json(CBOR.encode(last.state))
            if let (exit, isProper) = await process.terminate(within: Self.stopLimit), !isProper {
                throw ChaosFailure("\(target) was told to end when all was well, and ended with \(exit)")
            }
            stopped.append(process)
        }
        for process in stopped { try await process.start() }
        return states
    }
}
