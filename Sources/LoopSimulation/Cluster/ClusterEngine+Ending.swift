import LoopCluster
import LoopCore
import LoopWire

/// How a loop ends, and how every process learns of it.
extension ClusterEngine {
    func planEnd(_ end: SimulationPlan.End) {
        say("the loop is to end at \(Transcript.seconds(end.at)) or soon after")
        guard end.fault?.kind == .restored else { return }
        agenda.note(.endNears, at: end.at - min(end.at, between(.zero, .seconds(2))))
    }

    /// The journal has the loop's end. No peer knows it yet.
    func noteEnd(_ end: Outcome) throws(Violation) {
        say("the loop has ended: \(end.text.prefix(200))")
        ending.outcome = end
        guard let fault = plan.end?.fault, isFaulty, !ending.hasFaultAtEnd else { return }
        ending.hasFaultAtEnd = true
        if fault.after == 0 { return try faultAtEnd() }
        agenda.note(.endFault, at: now + fault.after)
    }

    func faultAtEnd() throws(Violation) {
        guard isFaulty, let kind = plan.end?.fault?.kind, let peer = roster.present.first, focusOnLeader() else {
            return
        }
        say("a fault after the end: \(kind)")
        var dice = SeededRandom(seed: scenario.seed)
        if try fault(kind, peer, &dice) { tally.faultCounts[kind, default: 0] += 1 }
    }

    /// The end that some processes know is lost with a part of the journal. New processes replace those that have left.
    func replaceDeparted() throws(Violation) {
        for (role, slot) in roster.takeDeparted() { try addPeer(role, slot) }
    }

    // MARK: Learning of the end

    /// A process that has learned of the end has stopped its bodies, and leaves. The peer in the reducer's process stays.
    func depart(_ peer: Peer) throws(Violation) {
        if let body = peer.bodies.all.first {
            throw Violation(
                .nothingStale,
                "\(peer.role) \(peer.index) has learned that the loop has ended, and \(body.effect) goes on")
        }
        guard peer.role != .local, peer.isAlive else { return }
        roster.depart(peer)
        try observe(.departed(peer: peer.index))
        if let reducer = process.machine, reducer.end == nil { try replaceDeparted() }
    }

    /// A process reports that the loop has ended. It must have read that.
    func demandHeard(by peer: Peer) throws(Violation) {
        if peer.heardEnds.isEmpty {
            throw Violation(
                .durableBeforeVisible,
                "\(peer.role) \(peer.index) knows that the loop has ended, but no message said so")
        }
    }

    /// An observer reports that the loop has ended.
    func observeEnd(_ peer: Peer) throws(Violation) {
        try demandHeard(by: peer)
        guard let history = peer.observing?.machine.history, let heard = peer.heardEnds[history]
        else { return }
        // The observer waits a second for the last state, and cannot distinguish it from a lost one of an equal seq.
        let hadTime = now < heard.at + 1_000_000_000
        try observe(.observedEnd(peer: peer.index, history, seq: heard.seq, mustBeThere: hadTime))
    }

    // MARK: The end of the run

    /// Whether the loop has ended and every process knows. If the plan requires it, more processes come then and learn of it too.
    func isOver() throws(Violation) -> Bool {
        guard outcome != nil, focusOnLeader(), !process.isSyncing, roster.unaware == nil,
            !plan.isUnguarded && storage.database == nil || hasWrittenAll
        else { return false }
        guard plan.end != nil, !ending.haveLatecomersCome else { return true }
        ending.haveLatecomersCome = true
        say("everybody has learned of the end; others come late")
        try addPeer(.worker, 0)
        try addPeer(.client, 0)
        for slot in plan.observers.indices { try addPeer(.observer, slot) }
        return false
    }
}
