import LoopCluster
import LoopCore
import LoopWire

/// The turns of a process, its connections, and a record of what it sent.
extension PeerActor {
    /// A new process continues with an outbox file.
    func resume(_ outbox: SimulatedOutbox) {
        var configuration = peer.machine.configuration
        configuration.peer = outbox.peer
        peer.machine = PeerMachine(configuration: configuration, resuming: outbox.stream, at: peer.clock(at: now))
        peer.machine.brokenRules = brokenRules
        peer.accounts = OutboxAccounts(settled: peer.machine.settledNumber, ids: outbox.entryIDs)
        peer.outbox = outbox
    }

    /// DEALER makes another connection, to which ROUTER gives another routing id.
    func renewRoute(at place: Int) {
        let number = world.roster.nextID()
        peer.sockets[place].dealer.reconnect(as: number)
    }

    func wake(at time: UInt64) {
        if peer.role == .local { return reducer.wake(at: time) }
        let time = max(time, peer.life.frozenUntil)
        guard peer.isAlive, time < peer.life.wakesAt else { return }
        peer.life.wakesAt = time
        world.agenda.note(.peerTurn(Int32(peer.index)), at: time)
    }

    func turn() throws(Violation) {
        guard now >= peer.life.wakesAt else { return }
        peer.life.wakesAt = .max
        guard peer.isAlive else { return }
        if peer.life.frozenUntil > now { return wake(at: peer.life.frozenUntil) }
        try readAll()
        guard peer.isAlive else { return }
        peer.observing?.machine.share(with: &peer.machine, at: peer.clock(at: now))
        peer.machine.advance(to: peer.clock(at: now))
        try settleAccounts()
        guard peer.isAlive else { return }
        if peer.role == .observer { try advanceObserver() }
        try push()
        guard peer.isAlive else { return }
        wake(at: min(max(peer.deadline, now + 100_000), max(peer.readableAt, now)))
        try observe(
            .measured(
                entries: Int(peer.machine.lastNumber - peer.machine.settledNumber),
                entriesMax: peer.machine.configuration.outboxEntriesMax + 2 * plan.capacity, lag: 0,
                lagMax: 0))
    }

    /// Reads from SUB's connections and DEALER, in any order.
    private func readAll() throws(Violation) {
        let time = peer.clock(at: now)
        if world.candidates.count > 1 { try readElsewhere() }
        while peer.isAlive {
            let fromReducer = peer.sockets[here].dealer.fromReducer.readableAt <= now
            let published = peer.sockets[here].subscriber.connections.readableCount(at: now)
            let count = published + (fromReducer ? 1 : 0)
            if count == 0 { return }
            let choice = pick(count)
            if choice == published {
                guard let frame = peer.sockets[here].dealer.fromReducer.popFirst() else { return }
                peer.heardEnds.note(frame, at: now)
                if peer.role == .observer { try observe(frame, isReply: true) }
                peer.machine.receiveReply(frame, at: time)
            } else {
                guard let frame = peer.sockets[here].subscriber.connections.popFirst(choice, at: now) else { return }
                if !frame.isForObservers, frame.history == peer.machine.history { peer.lease.heardAt = now }
                peer.heardEnds.note(frame, at: now)
                if case .tick(let tick) = frame.message { noteTick(tick, frame.epoch) }
                if frame.isForObservers {
                    try observe(frame, isReply: false)
                    if world.candidates.count > 1 { peer.machine.hear(frame, from: candidate.address, at: time) }
                } else {
                    peer.machine.receivePublished(frame, from: peer.machine.place, at: time)
                }
                peer.sockets[here].subscriber.connections.dropEmpty()
            }
            try settleAccounts()
        }
    }

    /// Sends the batches that are ready, as far as the socket accepts them.
    func push() throws(Violation) {
        guard peer.sockets[here].pusher.connections.hasPresent else { return }
        while peer.isAlive, let batch = peer.machine.nextBatch() {
            try noteSent(batch)
            if peer.sockets[here].pusher.takesNothing || peer.sockets[here].pusher.connections.isFull(plan.pipeMax) {
                peer.machine.couldNotPush(batch)
                return
            }
            if !peer.sockets[here].pusher.isDead { send(batch) }
        }
    }

    func noteSent(_ batch: Batch) throws(Violation) {
        let ids = peer.accounts.ids(
            from: batch.first + peer.machine.outbox.base, count: batch.entries.count)
        guard ids.count == batch.entries.count, !ids.contains(0) else {
            throw Violation(.nothingLost, "peer \(peer.index) sends an entry again after its outcome: \(batch)")
        }
        world.tally.countSent(batch.entries.count, again: peer.accounts.send(batch))
        let session = PeerSession(history: batch.history, session: batch.session, peer: peer.id)
        try observe(.sent(session, first: batch.first, ids: ids))
    }

    // MARK: Actions and records

    /// Runs after every call of a machine. It notes new entries, performs the machine's actions, and reports outcomes.
    /// - Parameter made: the entry that was just passed to the machine, if it was an event or the end of an effect.
    func settleAccounts(_ made: SentEntry? = nil) throws(Violation) {
        try noteNewEntries(made)
        while true {
            keepOutbox()
            let wishes = peer.machine.takeActions()
            if wishes.isEmpty { break }
            for wish in wishes { try fulfil(wish) }
            guard peer.isAlive else { return }
            try noteNewEntries(nil)
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
        if peer.life.hasEnded { try depart() }
        if peer.life.hasFinished { try leave() }
    }

    /// Writes to disk what must be there before anything is sent.
    private func keepOutbox() {
        guard peer.outbox != nil else { return }
        peer.outbox?.commit(peer.machine, at: now)
        if let settled = peer.outbox?.stream.settled { peer.machine.kept(settled: settled) }
    }

    private func noteNewEntries(_ made: SentEntry?) throws(Violation) {
        let last = peer.machine.lastNumber
        while peer.accounts.last < last {
            var sent: SentEntry
            if let made { sent = made } else { sent = try sentEntry(peer.accounts.last + 1) }
            sent.id = world.tally.nextEntry()
            peer.accounts.accept(sent.id)
            peer.outbox?.accept(sent.id, peer.accounts.last)
            try observe(.accepted(sent))
        }
    }

    private func sentEntry(_ number: UInt64) throws(Violation) -> SentEntry {
        guard let entry = peer.machine.entry(number) else {
            throw Violation(.nothingLost, "peer \(peer.index) has no entry \(number)")
        }
        return SentEntry(
            id: 0, peer: peer.index, kind: entry.kind, effect: entry.effect, attempt: entry.attempt,
            index: bodyIndex(entry), payload: nil, wantsSeq: entry.wantsSeq, wantsAnswer: entry.wantsAnswer)
    }

    private func bodyIndex(_ entry: Entry) -> Int {
        entry.effect.flatMap { peer.bodies.run(of: $0) }.flatMap { peer.bodies[$0]?.next } ?? 0
    }

    private func fulfil(_ wish: PeerAction) throws(Violation) {
        switch wish {
        case .send(let message): try send(message)
        case .connect where peer.role == .local: reducer.wake(at: now)
        case .connect:
            peer.sockets[here].subscriber.connect(knownFrom: now + 2 * latency())
            reducer.wake(at: peer.sockets[here].subscriber.knownFrom)
            peer.sockets[here].pusher.rebuild(at: now, &world.random)
        case .rebuildPush: if peer.role != .local { peer.sockets[here].pusher.rebuild(at: now, &world.random) }
        case .run(let grant): try begin(grant)
        case .update(let effect, let attempt, let request):
            guard let run = peer.bodies.run(of: effect), peer.bodies[run]?.attempt == attempt else { return }
            try renew(run, request)
        case .stop(let effect, let attempt):
            guard let run = peer.bodies.run(of: effect), peer.bodies[run]?.attempt == attempt else { return }
            peer.bodies[run] = nil
        case .settled(let number, let outcome, let detail): try tell(number, outcome, detail)
        case .answered(let number, let seq, let answer):
            let id = try tell(number, .applied(seq))
            try observe(.answered(id: id, answer))
        case .hasSpace: try resume()
        case .dial(let address): dial(address)
        case .redial: renewRoute(at: here)
        case .lookUp: break
        case .keptWaiting(let reason): say("peer \(peer.index) is kept waiting: \(reason)")
        case .refused(let refused): try endRefused(refused)
        case .loopEnded:
            try demandHeard()
            peer.life.hasEnded = true
        case .finished: peer.life.hasFinished = true
        }
    }

    /// A sender learns the outcome of its entry.
    /// - Returns: the entry's id.
    @discardableResult
    private func tell(
        _ number: UInt64, _ outcome: EntryOutcome, _ detail: String = ""
    ) throws(Violation) -> Int {
        guard let id = peer.accounts.tell(number) else {
            throw Violation(.nothingLost, "peer \(peer.index) hears of \(number), which is not under way")
        }
        let isUnheard = now > peer.lease.heardAt + UInt64(plan.silenceLimit.wholeNanoseconds)
        try observe(.told(id: id, outcome, detail: detail, isUnheard: isUnheard))
        return id
    }

    /// A process that was asked to leave has handed everything back.
    private func leave() throws(Violation) {
        say("peer \(peer.index) has left")
        peer.life.stage = .gone
        try observe(.departed(peer: peer.index))
        try world.replace(peer)
    }
}
