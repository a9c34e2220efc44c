import LoopCluster
import LoopCore
import LoopWire

/// Faults that matter only together with others: words of an earlier session, ends of journals that nobody misses, copies of
/// journals.
extension ClusterEngine {
    /// What is said to a process is kept, so that it can come again; once its session is another, what was said in the one
    /// before may come over an earlier connection.
    func noteSaid(_ frame: PeerFrame, to peer: Peer) {
        defer { peer.recentFrames.note(frame) }
        guard frame.session != .none, frame.session != peer.addressedSession else { return }
        defer { peer.addressedSession = frame.session }
        guard peer.hearsEarlierSession, peer.addressedSession != .none, !peer.subscriber.pipes.isEmpty else { return }
        peer.hearsEarlierSession = false
        var late = Pipe<PeerFrame>()
        var arrival = now + latency()
        for frame in peer.recentFrames.inOrder {
            arrival += between(.zero, .milliseconds(50))
            late.append(frame, arrival: arrival)
        }
        if late.isEmpty { return }
        peer.subscriber.pipes.insert(late, at: 0)
        wake(peer, at: late.readableAt)
    }

    /// Whether a turn is the one that is to be lost quietly.
    func isToBeLost(_ records: [Record]) -> Bool {
        guard let wanted = awaitedLoss?.of, !records.contains(where: \.outlivesPower) else { return false }
        return records.contains { record in
            switch (record, wanted) {
            case (.event, .event): true
            case (.attemptEnded(let end), .attemptEnd): end.cause == .unresponsive
            case (_, .refusal): false
            default: false
            }
        }
    }

    /// The machine loses power behind a turn, and what that turn wrote is gone with it. Others have heard of it, but nobody
    /// whose entries it consumed: so nobody can show that it is lost.
    func loseQuietly(_ records: [Record], through position: UInt64, _ messages: [Outbound]) throws(Violation) {
        let (loss, endsAgain) = awaitedLoss ?? (.event, false)
        // The other worker, which was away, may come back with entries of the attempt that it does not have any more.
        awaitedLoss = loss == .attemptEnd && !endsAgain ? (.refusal, false) : nil
        let senders = Set(records.compactMap { $0.entry?.session })
        let deaf = present.filter { senders.contains($0.machine.session) }.map { (peer: $0, burst: $0.burst) }
        for (peer, _) in deaf { peer.burst = messages.count }
        try deliver(messages)
        for (peer, burst) in deaf { peer.burst = burst }
        try crashReducer(losesPower: true, behind: position - UInt64(records.count))
        if endsAgain { endsAgainAt = now + between(plan.silenceLimit / 4, plan.silenceLimit * 3) }
    }

    /// What a worker claims that has forgotten what it runs, for an epoch.
    func forgetful(_ message: ToReducer, _ peer: Peer) throws(Violation) -> ToReducer {
        guard case .claim(let session, let epoch, let part) = message else { return message }
        if peer.forgetfulEpoch == nil { peer.forgetfulEpoch = epoch }
        guard peer.forgetfulEpoch == epoch else {
            peer.forgetsClaims = false
            return message
        }
        for claim in part.attempts { try observe(.forgotten(peer.machine.history, claim.effect, claim.attempt)) }
        return .claim(session, epoch, ClaimPart([], number: part.number, part: part.part, parts: part.parts))
    }

    /// How many records of a turn stand when the process ends in the middle of its append; nil: it does not.
    func lengthWhereTorn(_ records: [Record]) -> Int? {
        guard case .refusal? = awaitedLoss?.of else { return nil }
        let isRefused = { (record: Record) in
            if case .refused(let refusal) = record { refusal.reason == .attempt } else { false }
        }
        guard let first = records.firstIndex(where: isRefused), first + 1 < records.count else { return nil }
        return first + 1
    }

    /// An operator stops the reducer, puts an older copy of the journal into its place, and starts it. That takes a while:
    /// whatever was under way is gone.
    /// - Returns: whether there was an older copy.
    func putBackCopy() throws(Violation) -> Bool {
        guard isReducerUp, let disk, plan.keeping != .memory, let lost = disk.putBackCopy() else { return false }
        trap.end(signal: 0)
        journal?.close()
        try letGoOfMachine()
        say("an older copy of the journal is put back: \(lost.count) records are missing")
        isRestored = true
        missing = lost
        loseConnections()
        reducerLife += 1
        agenda.note(.reducerStart(life: reducerLife), at: now + UInt64((plan.silenceLimit * 2).wholeNanoseconds))
        return true
    }

    /// The first start on the older copy: by now every process has noticed the silence, or stands still.
    func startOnCopy(without lost: [Record], _ disk: SimulatedDisk) throws(Violation) {
        missing = nil
        loseConnections()
        try forget(lost, of: disk)
    }

    /// All connections to the reducer are made anew, and nothing of what they carried is left.
    private func loseConnections() {
        for peer in present where peer.role != .local {
            peer.pusher.pipes = peer.pusher.pipes.isEmpty ? [] : [Pipe()]
            peer.recentFrames = Recent()
            peer.recentBatches = Recent()
            renewRoute(of: peer)
            if peer.isConnected {
                peer.subscriber.pipes = []
                renewSubscription(of: peer)
            }
        }
    }
}
