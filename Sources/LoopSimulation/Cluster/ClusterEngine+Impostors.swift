import LoopCluster
import LoopCore
import LoopWire

/// Processes that use another's session: forged batches, and copies of outbox files.
extension ClusterEngine {
    /// The position of forgers among all processes. No process waits for the outcome of what they send.
    private static var forger: Int { -1 }

    /// A batch with the next number of a session whose process is frozen and has nothing under way. When the process continues, it
    /// first learns how far its session is consumed. (Entries that it had sent under that number meanwhile could not be
    /// distinguished.)
    /// - Returns: whether there is such a session.
    func forgeBatch(of peer: Peer) throws(Violation) -> Bool {
        guard process.isUp, peer.life.stage == .running, peer.life.frozenUntil <= now, peer.machine.isJoined,
            peer.machine.outbox.isEmpty,
            peer.machine.history == storage.history, peer.sockets.pusher.connections.hasPresent,
            !peer.sockets.pusher.isDead,
            process.machine?.journaled.sessions[peer.machine.session]?.watermark == peer.machine.outbox.settled
        else { return false }
        var entry = Entry(kind: .event, payload: [0xff, 0x00])
        if chance(0.5), let claim = foreignAttempt() {
            (entry.effect, entry.attempt) = (claim.effect, claim.attempt)
            try observe(.forgotten(storage.history, claim.effect, claim.attempt))
        }
        let first = peer.machine.outbox.last + 1
        let id = tally.nextEntry()
        try observe(.died(peer: Self.forger))
        try observe(
            .accepted(
                SentEntry(
                    id: id, peer: Self.forger, kind: .event, effect: entry.effect, attempt: entry.attempt,
                    index: 0, payload: entry.payload, wantsSeq: false)))
        let session = PeerSession(history: storage.history, session: peer.machine.session, peer: peer.id)
        try observe(.sent(session, first: first, ids: [id]))
        let batch = Batch(
            loop: loop.id, history: storage.history, session: peer.machine.session, settled: 0, applied: 0,
            first: first,
            entries: EntryRun([entry]))
        peer.sockets.pusher.connections.append(batch, arrival: now + latency())
        peer.life.forgedUntil = now + between(.seconds(2), .seconds(4))
        peer.life.frozenUntil = peer.life.forgedUntil
        wakeReducer(at: now)
        return true
    }

    /// A running effect, with a later attempt of another effect.
    private func foreignAttempt() -> (effect: EffectID, attempt: Attempt)? {
        let bodies = roster.bodies
        guard let first = bodies.min(by: { $0.attempt < $1.attempt }),
            let last = bodies.max(by: { $0.attempt < $1.attempt }), first.effect != last.effect
        else { return nil }
        return (first.effect, last.attempt)
    }

    /// Copies a client's outbox file. The next time, if the client has sent more since, its process is stopped, and another process
    /// continues with the copy.
    /// - Returns: whether another process continues.
    func restoreOutbox(of peer: Peer) throws(Violation) -> Bool {
        guard peer.role == .client, peer.isAlive, peer.machine.isJoined, peer.machine.history == storage.history else {
            return false
        }
        guard let copy = peer.faults.copiedStream, copy.session == peer.machine.session,
            let watermark = process.machine?.journaled.sessions[copy.session]?.watermark, watermark > copy.offered
        else {
            if peer.machine.outbox.isEmpty {
                peer.faults.copiedStream = peer.machine.stream(after: peer.machine.lastNumber)
            }
            return false
        }
        peer.life.stage = .gone
        try observe(.died(peer: peer.index))
        let new = try addPeer(.client, peer.slot)
        resume(SimulatedOutbox(copy, of: peer.id), as: new)
        say("peer \(new.index) goes on with a copy of the outbox of peer \(peer.index)")
        return true
    }

    /// If nothing is lost, hardly anything is sent twice.
    func demandLittleLoad() throws(Violation) {
        guard plan.losesNothing, plan.end?.fault == nil else { return }
        checkers.count(.bounded)
        if tally.isLittleSentAgain { return }
        throw Violation(
            .bounded, "\(tally.sentAgainCount) of \(tally.sentCount) entries were sent again, and nothing was lost")
    }
}
