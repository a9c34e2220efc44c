import LoopCluster
import LoopCore
import LoopWire

/// Faults that matter only together with others: messages of an earlier session, unnoticed losses of a journal's end, copies of
/// journals.
extension ClusterEngine {
    /// Keeps a frame to a process, so that it can arrive again. After a change of the process's session, frames of the former
    /// session may arrive over an earlier connection.
    func keep(_ frame: PeerFrame, saidTo peer: Peer) {
        guard let again = peer.sockets.subscriber.keep(frame) else { return }
        var late = Pipe<PeerFrame>()
        var arrival = now + latency()
        for frame in again {
            arrival += between(.zero, .milliseconds(50))
            late.append(frame, arrival: arrival)
        }
        peer.sockets.subscriber.connections.insertEarlier(late)
        if !late.isEmpty { wake(peer, at: late.readableAt) }
    }

    /// The machine loses power after a turn, and everything that the turn wrote is lost. Peers have received messages of the turn,
    /// but those whose entries it consumed have not. So no peer can show the loss.
    func loseQuietly(
        _ loss: AwaitedLoss, _ turn: TurnUnderWay, _ messages: [Outbound]
    ) throws(Violation) {
        // The other worker, which was away, may return with entries of the attempt that it no longer has.
        let isAwaited = loss.of == .attemptEnd && !loss.endsAgain
        storage.awaitedLoss = isAwaited ? AwaitedLoss(of: .refusal, endsAgain: false) : nil
        let senders = Set(turn.records.compactMap { $0.entry?.session })
        let deaf = roster.present.filter { senders.contains($0.machine.session) }.map {
            (peer: $0, burst: $0.sockets.subscriber.dropCount)
        }
        for (peer, _) in deaf { peer.sockets.subscriber.dropCount = messages.count }
        try deliver(messages, of: turn)
        for (peer, burst) in deaf { peer.sockets.subscriber.dropCount = burst }
        try crashReducer(losesPower: true, behind: turn.position - UInt64(turn.records.count))
        if loss.endsAgain { process.endsAgainAt = now + between(plan.silenceLimit / 4, plan.silenceLimit * 3) }
    }

    /// A message of a worker that may have forgotten, for an epoch, what it runs.
    func forgetful(_ message: ToReducer, _ peer: Peer) throws(Violation) -> ToReducer {
        guard case .claim(let session, let epoch, let part) = message, peer.faults.forgets(in: epoch) else {
            return message
        }
        for claim in part.attempts { try observe(.forgotten(peer.machine.history, claim.effect, claim.attempt)) }
        return .claim(session, epoch, ClaimPart([], number: part.number, part: part.part, parts: part.parts))
    }

    /// An operator stops the reducer, puts back an older copy of the journal, and starts it. That takes a while, so everything
    /// under way is lost.
    /// - Returns: whether there was an older copy.
    func putBackCopy() throws(Violation) -> Bool {
        // The copy lacks a number that a forger has used, and the number's owner does not know of it yet.
        guard !roster.present.contains(where: { $0.life.forgedUntil > now }) else { return false }
        guard process.isUp, plan.keeping != .memory, let count = storage.restoreCopy() else { return false }
        process.trap.end(signal: 0)
        process.journal?.close()
        try letGoOfMachine()
        say("an older copy of the journal is put back: \(count) records are missing")
        loseConnections()
        process.endLife()
        agenda.note(.reducerStart(life: process.life), at: now + UInt64((plan.silenceLimit * 2).wholeNanoseconds))
        return true
    }

    /// The first start on the older copy. By now every process has noticed the silence, or is frozen.
    func startOnCopy(without lost: [Record], _ disk: SimulatedDisk) throws(Violation) {
        loseConnections()
        try forget(lost, of: disk)
    }

    /// All peers connect again, and everything that their connections carried is lost.
    private func loseConnections() {
        for peer in roster.present where peer.role != .local {
            peer.sockets.pusher.loseAll()
            peer.sockets.subscriber.loseAll()
            renewRoute(of: peer)
            if peer.sockets.subscriber.isConnected { renewSubscription(of: peer) }
        }
    }
}
