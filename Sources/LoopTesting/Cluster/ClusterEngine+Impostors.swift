import LoopCluster
import LoopCore
import LoopWire

/// Others that use a session's numbers: forged batches, and copies of outbox files.
extension ClusterEngine {
    /// The position of forgers among all processes. Nobody waits to hear what became of what they sent.
    private static var forger: Int { -1 }

    /// A batch with the next number of a session whose process stands still and has nothing under way. When it goes on it hears
    /// first how far its session is consumed. (What it had sent under that number meanwhile could not be told apart.)
    /// - Returns: whether there is such a session.
    func forgeBatch(of peer: Peer) throws(Violation) -> Bool {
        guard isReducerUp, peer.isAlive, !peer.isLeaving, peer.frozenUntil <= now, peer.machine.isJoined,
            peer.machine.outbox.isEmpty,
            peer.machine.history == history, let pipe = peer.pusher.pipes.indices.last, !peer.isPusherDead,
            reducer?.core.sessions[peer.machine.session]?.watermark == peer.machine.outbox.settled
        else { return false }
        var entry = Entry(kind: .event, payload: [0xff, 0x00])
        if chance(0.5), let claim = foreignAttempt() {
            (entry.effect, entry.attempt) = (claim.effect, claim.attempt)
            try observe(.forgotten(history, claim.effect, claim.attempt))
        }
        let first = peer.machine.outbox.last + 1
        entryCount += 1
        try observe(.died(peer: Self.forger))
        try observe(
            .accepted(
                SentEntry(
                    id: entryCount, peer: Self.forger, kind: .event, effect: entry.effect, attempt: entry.attempt,
                    index: 0, payload: entry.payload, wantsSeq: false)))
        try observe(.sent(history, peer.machine.session, first: first, ids: [entryCount]))
        let batch = Batch(
            loop: loop, history: history, session: peer.machine.session, settled: 0, applied: 0, first: first,
            entries: EntryRun([entry]))
        peer.pusher.pipes[pipe].append(batch, arrival: now + latency())
        peer.frozenUntil = max(peer.frozenUntil, now + between(.seconds(2), .seconds(4)))
        wakeReducer(at: now)
        return true
    }

    /// An effect that runs, with a later attempt, which is another effect's.
    private func foreignAttempt() -> (effect: EffectID, attempt: Attempt)? {
        let bodies = present.filter(\.isAlive).flatMap(\.bodies.all)
        guard let first = bodies.min(by: { $0.attempt < $1.attempt }),
            let last = bodies.max(by: { $0.attempt < $1.attempt }), first.attempt < last.attempt
        else { return nil }
        return (first.effect, last.attempt)
    }

    /// A client's outbox file is copied; the next time, if the client has sent more since, its process is stopped, and another
    /// one goes on with the copy.
    /// - Returns: whether one goes on.
    func restoreOutbox(of peer: Peer) throws(Violation) -> Bool {
        guard peer.role == .client, peer.isAlive, peer.machine.isJoined, peer.machine.history == history else {
            return false
        }
        guard let copy = peer.copiedStream, copy.session == peer.machine.session,
            let watermark = reducer?.core.sessions[copy.session]?.watermark, watermark > copy.offered
        else {
            if peer.machine.outbox.isEmpty { peer.copiedStream = peer.machine.stream(after: peer.machine.lastNumber) }
            return false
        }
        peer.isAlive = false
        try observe(.died(peer: peer.index))
        let new = try addPeer(.client, peer.slot)
        var configuration = new.machine.configuration
        configuration.peer = peer.id
        new.machine = PeerMachine(configuration: configuration, resuming: copy, at: time(new))
        new.machine.brokenRules = brokenRules
        new.isResumed = true
        new.accounts = OutboxAccounts(settled: new.machine.settledNumber)
        say("peer \(new.index) goes on with a copy of the outbox of peer \(peer.index)")
        return true
    }

    /// How much is sent again.
    func countSent(_ batch: Batch, by peer: Peer) {
        if batch.session != peer.sentUpTo.session { peer.sentUpTo = (batch.session, 0) }
        let last = batch.first + UInt64(batch.entries.count) - 1
        sentCount += batch.entries.count
        if batch.first <= peer.sentUpTo.number {
            sentAgainCount += Int(min(last, peer.sentUpTo.number) - batch.first) + 1
        }
        peer.sentUpTo.number = max(peer.sentUpTo.number, last)
    }

    /// Where nothing is lost, hardly anything is sent twice.
    func demandLittleLoad() throws(Violation) {
        guard plan.losesNothing, plan.end?.fault == nil else { return }
        checkers.count(.bounded)
        if sentAgainCount > 50 + sentCount / 5 {
            throw Violation(
                .bounded, "\(sentAgainCount) of \(sentCount) entries were sent again, and nothing was lost")
        }
    }
}
