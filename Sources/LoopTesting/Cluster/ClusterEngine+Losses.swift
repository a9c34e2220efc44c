import LoopCluster
import LoopCore
import LoopWire

/// Faults that matter only together with others: messages of an earlier session, unnoticed losses of a journal's end,
/// copies of journals.
extension ClusterEngine {
    /// What is said to a process is kept, so that it can come again; once its session is another, what was said in the one
    /// before may come over an earlier connection.
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

    /// The machine loses power after a turn, and what that turn wrote is gone with it. Peers have heard of the turn, but not
    /// those whose entries it consumed: so no peer can show that it is lost.
    func loseQuietly(
        _ loss: AwaitedLoss, _ turn: TurnUnderWay, _ messages: [Outbound]
    ) throws(Violation) {
        // The other worker, which was away, may come back with entries of the attempt that it does not have any more.
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

    /// A message as a worker sends it that may have forgotten, for an epoch, what it runs.
    func forgetful(_ message: ToReducer, _ peer: Peer) throws(Violation) -> ToReducer {
        guard case .claim(let session, let epoch, let part) = message, peer.faults.forgets(in: epoch) else {
            return message
        }
        for claim in part.attempts { try observe(.forgotten(peer.machine.history, claim.effect, claim.attempt)) }
        return .claim(session, epoch, ClaimPart([], number: part.number, part: part.part, parts: part.parts))
    }

    /// An operator stops the reducer, puts an older copy of the journal into its place, and starts it. That takes a while:
    /// whatever was under way is gone.
    /// - Returns: whether there was an older copy.
    func putBackCopy() throws(Violation) -> Bool {
        // The copy has not got a number that another has used, and its owner does not know of it yet.
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

    /// The first start on the older copy: by now every process has noticed the silence, or stands still.
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
