import LoopCluster

/// What an actor of the simulated world asks of it: the time, chance, the checkers and the transcript.
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
    var isTranscribing: Bool { world.isTranscribing }

    func at(_ peer: Peer) -> PeerActor<Work> { world.at(peer) }
    func observe(_ observation: Observation) throws(Violation) { try world.observe(observation) }
    func say(_ text: @autoclosure () -> String) { world.say(text()) }
    func chance(_ share: Double) -> Bool { world.chance(share) }
    func between(_ least: Duration, _ most: Duration) -> UInt64 { world.between(least, most) }
    func between(_ least: UInt64, _ most: UInt64) -> UInt64 { world.between(least, most) }
    func pick(_ count: Int) -> Int { world.pick(count) }
    func latency() -> UInt64 { world.latency() }
}
