import LoopCluster

/// What the simulated world and its actors ask of it: the time, chance, the checkers and the transcript.
protocol WorldActor {
    associatedtype Work: Workload
    var world: World<Work> { get }
}

extension WorldActor {
    typealias Ran = World<Work>.Ran
    typealias Peer = World<Work>.Peer

    var now: UInt64 { world.now }
    var plan: SimulationPlan { world.plan }
    var loop: SimulatedLoop { world.loop }
    var brokenRules: BrokenRules { world.brokenRules }
    var isTranscribing: Bool { world.transcript != nil }

    func at(_ peer: Peer) -> PeerActor<Work> { PeerActor(world: world, peer: peer) }
    func observe(_ observation: Observation) throws(Violation) { try world.checkers.observe(observation) }

    func say(_ text: @autoclosure () -> String) {
        if isTranscribing { world.transcript?.note(.word(text()), at: now) }
    }

    func chance(_ share: Double) -> Bool { world.random.chance(share) }
    func between(_ least: Duration, _ most: Duration) -> UInt64 { world.random.between(least, most) }
    func between(_ least: UInt64, _ most: UInt64) -> UInt64 { world.random.between(least, most) }
    func pick(_ count: Int) -> Int { world.random.pick(count) }
    func latency() -> UInt64 { between(50_000, plan.latencyMaxNanoseconds) }
}
