import LoopCluster
import LoopCore
import LoopWire

/// Workers and clients: the turns of their processes, and a record of what they sent.
extension ClusterEngine {
    /// - Parameter slot: the position among the processes of its role. A process that replaces another has its slot.
    @discardableResult
    func addPeer(_ role: Peer.Role, _ slot: Int) throws(Violation) -> Peer {
        let before = candidate.index
        defer { focus(on: before) }
        focus(on: 0)
        var id = PeerID(high: random.next(), low: random.next())
        if role == .local { id = .local }
        let offset = role == .local ? process.clock.offset : between(0, 1_000_000_000_000)
        let (capacity, groups) =
            switch role {
            case .worker: (plan.capacity, loop.workerGroups)
            case .client, .observer: (0, [])
            case .local: (loop.limits.localCapacity, [localGroup])
            }
        var configuration = PeerConfiguration(
            peer: id, loop: Work.Definition.name, schema: UInt64(Work.Definition.schema),
            fingerprint: loop.fingerprint.value, feedbacks: loop.fingerprint.feedbacks, groups: groups,
            capacity: capacity,
            name: "\(role) \(roster.nextIndex)", outboxEntriesMax: plan.outboxEntriesMax, outboxEntriesReserved: 8,
            outboxBytesMax: loop.limits.outboxBytesMax)
        if role == .local { configuration.outboxEntriesMax += 2 * capacity }
        if let bytes = plan.payloadBytesMax { configuration.payloadBytesMax = bytes }
        if candidates.count > 1 { configuration.places = candidates.map(\.address) }
        let time = MonotonicTime(nanoseconds: now + offset)
        let earlier = role == .local ? process.machine?.localStream : nil
        var machine =
            earlier.map { PeerMachine(configuration: configuration, continuing: $0, at: time) }
            ?? PeerMachine(configuration: configuration, at: time)
        machine.brokenRules = brokenRules
        let peer = Peer(
            index: roster.nextIndex, slot: slot, role: role, machine: machine, clockOffset: offset,
            candidates: candidates.count, at: now)
        if let earlier {
            peer.accounts = OutboxAccounts(settled: earlier.settled)
            try observe(.goesOn(earlier.history, earlier.session, after: earlier.settled))
        }
        roster.add(peer)
        if role == .local { return peer }
        if role == .observer { try watch(plan.observers[slot], peer) }
        listenEverywhere(peer)
        renewRoute(of: peer)
        wake(peer, at: now)
        if role == .client {
            if plan.hasOutboxFiles { resume(SimulatedOutbox(PeerStream(), of: id), as: peer) }
            peer.client.pause = 0
            agenda.note(.clientEvent(Int32(peer.index)), at: now + latency())
        }
        return peer
    }

    /// Another process replaces one that has ended, and continues with its outbox file, if it had one.
    func replace(_ peer: Peer) throws(Violation) {
        let new = try addPeer(peer.role, peer.slot)
        guard let outbox = peer.outbox else { return }
        resume(outbox.reopened(as: new.id), as: new)
        roster.noteBack(new)
        try observe(.inherited(ids: outbox.entryIDs, peer: new.index))
    }

    /// A new process continues with an outbox file.
    func resume(_ outbox: SimulatedOutbox, as peer: Peer) {
        var configuration = peer.machine.configuration
        configuration.peer = outbox.peer
        peer.machine = PeerMachine(configuration: configuration, resuming: outbox.stream, at: time(peer))
        peer.machine.brokenRules = brokenRules
        peer.accounts = OutboxAccounts(settled: peer.machine.settledNumber, ids: outbox.entryIDs)
        peer.outbox = outbox
    }

    /// DEALER makes another connection, to which ROUTER gives another routing id.
    func renewRoute(of peer: Peer) {
        let number = roster.nextID()
        peer.sockets.dealer.reconnect(as: number)
    }

    /// SUB makes another connection. The publisher learns of the subscription a little later.
    func renewSubscription(of peer: Peer) {
        peer.sockets.subscriber.reconnect(knownFrom: now + 2 * latency())
        wakeReducer(at: peer.sockets.subscriber.knownFrom)
    }

    func time(_ peer: Peer) -> MonotonicTime { peer.clock(at: now) }

    func wake(_ peer: Peer, at time: UInt64) {
        if peer.role == .local { return wakeReducer(at: time) }
        let time = max(time, peer.life.frozenUntil)
        guard peer.isAlive, time < peer.life.wakesAt else { return }
        peer.life.wakesAt = time
        agenda.note(.peerTurn(Int32(peer.index)), at: time)
    }

    func peerTurn(_ peer: Peer) throws(Violation) {
        guard now >= peer.life.wakesAt else { return }
        peer.life.wakesAt = .max
        guard peer.isAlive else { return }
        if peer.life.frozenUntil > now { return wake(peer, at: peer.life.frozenUntil) }
        try readAll(peer)
        guard peer.isAlive else { return }
        peer.observing?.machine.share(with: &peer.machine, at: time(peer))
        peer.machine.advance(to: time(peer))
        try settleAccounts(of: peer)
        guard peer.isAlive else { return }
        if peer.role == .observer { try advanceObserver(of: peer) }
        try push(peer)
        guard peer.isAlive else { return }
        wake(peer, at: min(max(peer.deadline, now + 100_000), max(peer.readableAt, now)))
        try observe(
            .measured(
                entries: Int(peer.machine.lastNumber - peer.machine.settledNumber),
                entriesMax: peer.machine.configuration.outboxEntriesMax + 2 * plan.capacity, lag: 0,
                lagMax: 0))
    }

    /// Reads from SUB's connections and DEALER, in any order.
    private func readAll(_ peer: Peer) throws(Violation) {
        let time = time(peer)
        if candidates.count > 1 { try readElsewhere(peer) }
        while peer.isAlive {
            let fromReducer = peer.sockets.dealer.fromReducer.readableAt <= now
            let published = peer.sockets.subscriber.connections.readableCount(at: now)
            let count = published + (fromReducer ? 1 : 0)
            if count == 0 { return }
            let choice = pick(count)
            if choice == published {
                guard let frame = peer.sockets.dealer.fromReducer.popFirst() else { return }
                peer.heardEnds.note(frame, at: now)
                if peer.role == .observer { try observe(frame, isReply: true, peer) }
                peer.machine.receiveReply(frame, at: time)
            } else {
                guard let frame = peer.sockets.subscriber.connections.popFirst(choice, at: now) else { return }
                if !frame.isForObservers, frame.history == peer.machine.history { peer.lease.heardAt = now }
                peer.heardEnds.note(frame, at: now)
                if case .tick(let tick) = frame.message { noteTick(tick, frame.epoch, at: peer) }
                if frame.isForObservers {
                    try observe(frame, isReply: false, peer)
                    if candidates.count > 1 { peer.machine.hear(frame, from: candidate.address, at: time) }
                } else {
                    peer.machine.receivePublished(frame, from: peer.machine.place, at: time)
                }
                peer.sockets.subscriber.connections.dropEmpty()
            }
            try settleAccounts(of: peer)
        }
    }

    /// Sends the batches that are ready, as far as the socket accepts them.
    func push(_ peer: Peer) throws(Violation) {
        guard peer.sockets.pusher.connections.hasPresent else { return }
        while peer.isAlive, let batch = peer.machine.nextBatch() {
            try noteSent(batch, by: peer)
            if peer.sockets.pusher.takesNothing || peer.sockets.pusher.connections.isFull(plan.pipeMax) {
                peer.machine.couldNotPush(batch)
                return
            }
            if !peer.sockets.pusher.isDead { send(batch, from: peer) }
        }
    }

    func noteSent(_ batch: Batch, by peer: Peer) throws(Violation) {
        let ids = peer.accounts.ids(
            from: batch.first + peer.machine.outbox.base, count: batch.entries.count)
        guard ids.count == batch.entries.count, !ids.contains(0) else {
            throw Violation(.nothingLost, "peer \(peer.index) sends an entry again after its outcome: \(batch)")
        }
        tally.countSent(batch.entries.count, again: peer.accounts.send(batch))
        let session = PeerSession(history: batch.history, session: batch.session, peer: peer.id)
        try observe(.sent(session, first: batch.first, ids: ids))
    }

    // MARK: Actions and records

    /// Runs after every call of a machine. It notes new entries, performs the machine's actions, and reports outcomes.
    /// - Parameter made: the entry that was just passed to the machine, if it was an event or the end of an effect.
    func settleAccounts(of peer: Peer, _ made: SentEntry? = nil) throws(Violation) {
        focus(on: peer.place)
        try noteNewEntries(of: peer, made)
        while true {
            keepOutbox(of: peer)
            let wishes = peer.machine.takeActions()
            if wishes.isEmpty { break }
            for wish in wishes { try fulfil(wish, peer) }
            guard peer.isAlive else { return }
            try noteNewEntries(of: peer, nil)
        }
        let settled = peer.machine.settledNumber
        if settled > peer.accounts.settled {
            for id in peer.accounts.settle(upTo: settled) {
                try observe(.told(id: id, .applied(.initial), detail: "", isUnheard: false))
            }
        } else if settled < peer.accounts.settled || peer.machine.lastNumber < peer.accounts.last {
            // The session was lost, and everything under way was reported as lost. Numbers begin again.
            peer.accounts.restart(settled: settled)
        }
        if peer.life.hasEnded { try depart(peer) }
        if peer.life.hasFinished { try leave(peer) }
    }

    /// Writes to disk what must be there before anything is sent.
    private func keepOutbox(of peer: Peer) {
        guard peer.outbox != nil else { return }
        peer.outbox?.commit(peer.machine, at: now)
        if let settled = peer.outbox?.stream.settled { peer.machine.kept(settled: settled) }
    }

    private func noteNewEntries(of peer: Peer, _ made: SentEntry?) throws(Violation) {
        let last = peer.machine.lastNumber
        while peer.accounts.last < last {
            var sent: SentEntry
            if let made { sent = made } else { sent = try sentEntry(peer.accounts.last + 1, of: peer) }
            sent.id = tally.nextEntry()
            peer.accounts.accept(sent.id)
            peer.outbox?.accept(sent.id, peer.accounts.last)
            try observe(.accepted(sent))
        }
    }

    private func sentEntry(_ number: UInt64, of peer: Peer) throws(Violation) -> SentEntry {
        guard let entry = peer.machine.entry(number) else {
            throw Violation(.nothingLost, "peer \(peer.index) has no entry \(number)")
        }
        return SentEntry(
            id: 0, peer: peer.index, kind: entry.kind, effect: entry.effect, attempt: entry.attempt,
            index: bodyIndex(peer, entry), payload: nil, wantsSeq: entry.wantsSeq, wantsAnswer: entry.wantsAnswer)
    }

    private func bodyIndex(_ peer: Peer, _ entry: Entry) -> Int {
        entry.effect.flatMap { peer.bodies.run(of: $0) }.flatMap { peer.bodies[$0]?.next } ?? 0
    }

    private func fulfil(_ wish: PeerAction, _ peer: Peer) throws(Violation) {
        switch wish {
        case .send(let message): try send(message, from: peer)
        case .connect where peer.role == .local: wakeReducer(at: now)
        case .connect:
            peer.sockets.subscriber.connect(knownFrom: now + 2 * latency())
            wakeReducer(at: peer.sockets.subscriber.knownFrom)
            peer.sockets.pusher.rebuild(at: now, &random)
        case .rebuildPush: if peer.role != .local { peer.sockets.pusher.rebuild(at: now, &random) }
        case .run(let grant): try begin(grant, on: peer)
        case .update(let effect, let attempt, let request):
            guard let run = peer.bodies.run(of: effect), peer.bodies[run]?.attempt == attempt else { return }
            try renew(run, of: peer, request)
        case .stop(let effect, let attempt):
            guard let run = peer.bodies.run(of: effect), peer.bodies[run]?.attempt == attempt else { return }
            peer.bodies[run] = nil
        case .settled(let number, let outcome, let detail): try tell(peer, number, outcome, detail)
        case .answered(let number, let seq, let answer):
            let id = try tell(peer, number, .applied(seq))
            try observe(.answered(id: id, answer))
        case .hasSpace: try resume(peer)
        case .dial(let address): dial(address, from: peer)
        case .redial: renewRoute(of: peer)
        case .lookUp: break
        case .keptWaiting(let reason): say("peer \(peer.index) is kept waiting: \(reason)")
        case .refused(let refused): try endRefused(peer, refused)
        case .loopEnded:
            try demandHeard(by: peer)
            peer.life.hasEnded = true
        case .finished: peer.life.hasFinished = true
        }
    }

    /// A sender learns the outcome of its entry.
    /// - Returns: the entry's id.
    @discardableResult
    private func tell(
        _ peer: Peer, _ number: UInt64, _ outcome: EntryOutcome, _ detail: String = ""
    ) throws(Violation) -> Int {
        guard let id = peer.accounts.tell(number) else {
            throw Violation(.nothingLost, "peer \(peer.index) hears of \(number), which is not under way")
        }
        let isUnheard = now > peer.lease.heardAt + UInt64(plan.silenceLimit.wholeNanoseconds)
        try observe(.told(id: id, outcome, detail: detail, isUnheard: isUnheard))
        return id
    }

    /// A process that was asked to leave has handed everything back.
    private func leave(_ peer: Peer) throws(Violation) {
        say("peer \(peer.index) has left")
        peer.life.stage = .gone
        try observe(.departed(peer: peer.index))
        try replace(peer)
    }
}
