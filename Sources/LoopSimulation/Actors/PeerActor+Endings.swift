import LoopCluster
import LoopWire

/// How a process stops, is killed or refused, and learns of the loop's end.
extension PeerActor {
    /// Makes a worker leave, or a client if another process continues its stream.
    @discardableResult
    func stop() throws(Violation) -> Bool {
        guard peer.role == .worker || peer.outbox != nil, peer.life.stage == .running else { return false }
        peer.life.stage = .leaving
        peer.machine.stop(at: peer.clock(at: now))
        try settleAccounts()
        wake(at: now)
        return true
    }

    func kill() throws(Violation) {
        try end()
        try world.replace(peer)
    }

    /// A process ends, with everything that it had.
    func end() throws(Violation) {
        peer.life.stage = .gone
        world.roster.noteKilled(peer, at: now)
        peer.bodies.removeAll()
        try observe(.died(peer: peer.index))
    }

    /// A process was refused for its key, and has ended. Its supervisor starts it again when keys have changed. If its session is
    /// another key's, the refusal is permanent. Then an operator begins another outbox, as the refusal says.
    func endRefused(_ refused: Refused) throws(Violation) {
        guard world.keys != nil, refused.what.isOfKeys else {
            throw Violation(
                peer.role == .observer ? .observersConverge : .progress,
                "\(peer.role) \(peer.index) is not let in: \(refused)")
        }
        guard peer.isAlive else { return }
        say("\(peer.role) \(peer.index) ends: \(refused)")
        try end()
        if refused.what == .session { peer.outbox = nil }
        world.refusedPeers.append(peer)
        // No key changes any more.
        if !world.isFaulty { try world.replaceRefused() }
    }

    /// A process that has learned of the end has stopped its bodies, and leaves. The peer in the reducer's process stays.
    func depart() throws(Violation) {
        if let body = peer.bodies.all.first {
            throw Violation(
                .nothingStale,
                "\(peer.role) \(peer.index) has learned that the loop has ended, and \(body.effect) goes on")
        }
        guard peer.role != .local, peer.isAlive else { return }
        world.roster.depart(peer)
        try observe(.departed(peer: peer.index))
        if let machine = candidate.process.machine, machine.end == nil { try world.replaceDeparted() }
    }

    /// A process reports that the loop has ended. It must have read that.
    func demandHeard() throws(Violation) {
        if peer.heardEnds.isEmpty {
            throw Violation(
                .durableBeforeVisible,
                "\(peer.role) \(peer.index) knows that the loop has ended, but no message said so")
        }
    }

    /// An observer reports that the loop has ended.
    func observeEnd() throws(Violation) {
        try demandHeard()
        guard let history = peer.observing?.machine.history, let heard = peer.heardEnds[history]
        else { return }
        // The observer waits a second for the last state, and cannot distinguish it from a lost one of an equal seq.
        let hadTime = now < heard.at + 1_000_000_000
        try observe(.observedEnd(peer: peer.index, history, seq: heard.seq, mustBeThere: hadTime))
    }
}
