import LoopCluster
import LoopCore
import LoopWire

/// How long an effect stays with a worker that is not reached any more. (Protocol, section 6.)
///
/// A lease runs from the newest tick that the worker has read, as of when that tick was sent; a reducer that stood still
/// itself does not hold it against its workers. Whoever listens from outside knows all of that.
extension ClusterEngine {
    /// A process serves: nobody has read a tick of it.
    func beginWatch() {
        servedEpoch = reducer?.epoch ?? .none
        advancedAt = now
        standstills = []
        for peer in present { peer.reachedAt = 0 }
    }

    /// A worker has read a tick.
    func noteTick(_ tick: Tick, _ epoch: Epoch, at peer: Peer) {
        guard epoch == servedEpoch, tick.stamp >= reducerClockOffset else { return }
        peer.reachedAt = max(peer.reachedAt, tick.stamp - reducerClockOffset)
    }

    /// A greeting is answered: the first one begins a lease.
    func noteWelcome(of peer: Peer) { peer.reachedAt = max(peer.reachedAt, now) }

    /// The machine was told the time: whose lease is over has no effects that another worker could run.
    func watchLeases() throws(Violation) {
        let limit = UInt64(plan.silenceLimit.wholeNanoseconds)
        if now - advancedAt > limit / 2 { standstills.append((now, now - advancedAt)) }
        advancedAt = now
        for peer in present where peer.role == .worker && peer.reachedAt > 0 && now > peer.reachedAt + limit {
            guard peer.lapsedAt.reached != peer.reachedAt, now >= peer.lapsedAt.looked + 50_000_000 else { continue }
            let still = standstills.reduce(0) { $1.at >= peer.reachedAt ? $0 + $1.length : $0 }
            if now > peer.reachedAt + limit + still { try checkTaken(from: peer) }
        }
    }

    private func checkTaken(from peer: Peer) throws(Violation) {
        guard let members = reducer?.status().peers else { return }
        let count = members.reduce(0) { $1.peer == "\(peer.id)" ? $0 + $1.leases : $0 }
        peer.lapsedAt = (count == 0 ? peer.reachedAt : .max, now)
        if count == 0 { return }
        let other = present.first { other in
            other !== peer && other.role == .worker && other.isAlive && other.machine.isJoined
                && other.machine.epoch == servedEpoch && other.machine.history == history
                && members.contains {
                    $0.session == other.machine.session.value && $0.capacity > 0 && $0.leaseMilliseconds > 0
                }
        }
        guard let other else { return }
        throw Violation(
            .progress,
            "what last reached peer \(peer.index) was sent \(Transcript.seconds(now - peer.reachedAt)) s ago, and it has"
                + " \(count) effects that peer \(other.index) could run")
    }
}
