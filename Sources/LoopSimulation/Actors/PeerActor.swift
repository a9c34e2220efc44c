import LoopCluster
import LoopCore
import LoopWire

/// A worker, a client, an observer or the reducer's own peer at work: its turns, the bodies of its effects, and what it exchanges with
/// the reducer.
struct PeerActor<Work: Workload>: WorldActor {
    let world: World<Work>
    let peer: Peer

    /// The process of the reducer that it talks to.
    var candidate: Candidate<Ran> { world.candidates[peer.place] }
    var reducer: ReducerActor<Work> { world.at(candidate) }

    /// The place of its sockets that are connected to that process.
    var here: Int { peer.place }

    // MARK: - Turns, connections, and a record of what was sent

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

    // MARK: - What a process sends, and how it finds the leader

    func send(_ message: ToReducer) throws(Violation) {
        if peer.role == .local {
            peer.said.append(message)
            return reducer.wake(at: now)
        }
        // If entries are stuck, a goodbye requests another session, and this one continues until that is granted.
        if case .goodbye(let session, let id, let history) = message, peer.machine.outbox.isEmpty {
            try observe(.saidGoodbye(PeerSession(history: history, session: session, peer: id)))
        }
        if case .claim(_, _, let part) = message {
            try world.demandFit(part.attempts.count, bytesEach: ClaimedAttempt.byteCount, "a claim")
            // Between two parts a connection may begin or end, so that the first part found none. The choice does not come from the
            // generator, because everything else depends on its numbers.
            if part.parts > 1, world.isFaulty, (now &+ UInt64(part.part)) &* 0x9E37_79B9 % 8 == 0 { return }
        }
        let said = world.network.carry(try forgetful(message))
        if peer.sockets[here].dealer.isDead { return }
        let arrival = max(now + latency(), peer.sockets[here].cutToReducerUntil)
        peer.sockets[here].dealer.toReducer.append(said, arrival: arrival)
        reducer.wake(at: arrival)
    }

    func send(_ batch: Batch) {
        let carried = world.network.carry(batch)
        if plan.hasReplays { peer.sockets[here].pusher.recent.note(carried) }
        let arrival = max(now + latency(), peer.sockets[here].cutToReducerUntil)
        if let time = peer.sockets[here].pusher.connections.append(carried, arrival: arrival) { reducer.wake(at: time) }
    }

    /// A message of a worker that may have forgotten, for an epoch, what it runs.
    func forgetful(_ message: ToReducer) throws(Violation) -> ToReducer {
        guard case .claim(let session, let epoch, let part) = message, peer.faults.forgets(in: epoch) else {
            return message
        }
        for claim in part.attempts { try observe(.forgotten(peer.machine.history, claim.effect, claim.attempt)) }
        return .claim(session, epoch, ClaimPart([], number: part.number, part: part.part, parts: part.parts))
    }

    /// The peer in the reducer's process hears a message of the reducer.
    func hear(_ frame: PeerFrame, isReply: Bool) throws(Violation) {
        guard peer.isAlive else { return }
        peer.heardEnds.note(frame, at: now)
        if isTranscribing { world.transcript?.note(.toPeer(peer.index, frame, isLost: false), at: now) }
        if isReply {
            peer.machine.receiveReply(frame, at: peer.clock(at: now))
        } else {
            peer.machine.receivePublished(frame, at: peer.clock(at: now))
        }
        reducer.wake(at: now)
    }

    /// A worker has read a tick.
    func noteTick(_ tick: Tick, _ epoch: Epoch) {
        guard epoch == world.leases.epoch, tick.stamp >= reducer.process.clock.offset, reducer.isLeading else { return }
        peer.lease.reach(at: tick.stamp - reducer.process.clock.offset)
    }

    /// Makes a peer listen at all addresses, so that it receives the next leader's messages at once.
    func listenEverywhere() {
        guard world.candidates.count > 1, peer.role != .local else { return }
        let topics = peer.role == .observer ? peer.sockets[here].subscriber.topics : [.tick(loop.id)]
        for index in world.candidates.indices {
            peer.sockets[index].subscriber.topics = topics
            peer.sockets[index].subscriber.connect(knownFrom: now + 2 * latency())
            world.reducer(index).wake(at: peer.sockets[index].subscriber.knownFrom)
        }
    }

    /// Reads what was published at the addresses to which the peer does not talk.
    func readElsewhere() throws(Violation) {
        var frames: [(place: String, frame: PeerFrame)] = []
        for index in world.candidates.indices where index != peer.place {
            while let frame = peer.sockets[index].subscriber.connections.popFirst(0, at: now) {
                frames.append((world.candidates[index].address, frame))
            }
        }
        for (place, frame) in frames where peer.isAlive {
            peer.heardEnds.note(frame, at: now)
            if frame.isForObservers {
                try observe(frame, isReply: false)
                peer.machine.hear(frame, from: place, at: peer.clock(at: now))
            } else {
                peer.machine.receivePublished(frame, from: place, at: peer.clock(at: now))
            }
            try settleAccounts()
        }
    }

    /// From now on the peer talks to the process at this address.
    func dial(_ address: String) {
        guard let index = world.candidates.firstIndex(where: { $0.address == address }) else {
            return peer.machine.couldNotDial()
        }
        peer.sockets[here].dealer.close()
        peer.place = index
        renewRoute(at: here)
    }

    // MARK: - How a process stops, is killed or refused, and learns of the loop's end

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
