import LoopCluster
import LoopCore
import LoopWire

/// Workers and clients: their processes' turns, and the accounts of what they sent.
extension ClusterEngine {
    /// - Parameter slot: the position among the processes of its role; a new one takes the place of one that is gone.
    @discardableResult
    func addPeer(_ role: Peer.Role, _ slot: Int) throws(Violation) -> Peer {
        var id = PeerID(high: random.next(), low: random.next())
        if role == .local { id = .local }
        let offset = role == .local ? reducerClockOffset : between(0, 1_000_000_000_000)
        let (capacity, groups) =
            switch role {
            case .worker: (plan.capacity, groups)
            case .client, .observer: (0, [])
            case .local: (limits.localCapacity, [localGroup])
            }
        var configuration = PeerConfiguration(
            peer: id, loop: Work.Definition.name, schema: UInt64(Work.Definition.schema),
            fingerprint: fingerprint.value, feedbacks: fingerprint.feedbacks, groups: groups, capacity: capacity,
            name: "\(role) \(peers.count)", outboxEntriesMax: plan.outboxEntriesMax, outboxEntriesReserved: 8,
            outboxBytesMax: limits.outboxBytesMax)
        if role == .local { configuration.outboxEntriesMax += 2 * capacity }
        if let bytes = plan.payloadBytesMax { configuration.payloadBytesMax = bytes }
        let time = MonotonicTime(nanoseconds: now + offset)
        let earlier = role == .local ? reducer?.localStream : nil
        var machine =
            earlier.map { PeerMachine(configuration: configuration, continuing: $0, at: time) }
            ?? PeerMachine(configuration: configuration, at: time)
        machine.brokenRules = brokenRules
        let peer = Peer(
            index: peers.count, slot: slot, role: role, machine: machine, clockOffset: offset, route: [])
        peer.heardAt = now
        if let earlier {
            peer.accounts = OutboxAccounts(settled: earlier.settled)
            try observe(.goesOn(earlier.history, earlier.session, after: earlier.settled))
        }
        peers.append(peer)
        places.append((role, slot))
        present.append(peer)
        if role == .local { return peer }
        if role == .observer { try watch(plan.observers[slot], peer) }
        renewRoute(of: peer)
        wake(peer, at: now)
        if role == .client {
            peer.pause = 0
            agenda.note(.clientEvent(Int32(peer.index)), at: now + latency())
        }
        return peer
    }

    /// A DEALER connection is made anew: ROUTER gives it another routing id, and what was under way is gone.
    func renewRoute(of peer: Peer) {
        let number = UInt64(nextID())
        peer.route = withUnsafeBytes(of: number.littleEndian) { [UInt8]($0) }
        peer.toReducer.removeAll()
        peer.fromReducer.removeAll()
    }

    /// A SUB connection is made anew; the publisher hears of the subscription a little later.
    func renewSubscription(of peer: Peer) {
        peer.subscriber.pipes.append(Pipe())
        subscribe(peer)
    }

    private func subscribe(_ peer: Peer) {
        peer.subscribedAt = now + 2 * latency()
        peer.isSubscriptionNew = true
        wakeReducer(at: peer.subscribedAt)
    }

    func time(_ peer: Peer) -> MonotonicTime { MonotonicTime(nanoseconds: now + peer.clockOffset) }

    func wake(_ peer: Peer, at time: UInt64) {
        if peer.role == .local { return wakeReducer(at: time) }
        let time = max(time, peer.frozenUntil)
        guard peer.isAlive, time < peer.wakesAt else { return }
        peer.wakesAt = time
        agenda.note(.peerTurn(Int32(peer.index)), at: time)
    }

    func peerTurn(_ peer: Peer) throws(Violation) {
        guard now >= peer.wakesAt else { return }
        peer.wakesAt = .max
        guard peer.isAlive else { return }
        if peer.frozenUntil > now { return wake(peer, at: peer.frozenUntil) }
        try readAll(peer)
        guard peer.isAlive else { return }
        peer.observer?.share(with: &peer.machine, at: time(peer))
        peer.machine.advance(to: time(peer))
        try settleAccounts(of: peer)
        guard peer.isAlive else { return }
        if peer.role == .observer { try advanceObserver(of: peer) }
        try push(peer)
        guard peer.isAlive else { return }
        let due = peer.observer.map { peer.machine.deadline(with: $0) } ?? peer.machine.deadline
        let deadline = max(due.nanoseconds, peer.clockOffset) - peer.clockOffset
        var next = max(deadline, now + 100_000)
        for pipe in peer.subscriber.pipes { next = min(next, max(pipe.readableAt, now)) }
        next = min(next, max(peer.fromReducer.readableAt, now))
        wake(peer, at: next)
        try observe(
            .measured(
                entries: Int(peer.machine.lastNumber - peer.machine.settledNumber),
                entriesMax: peer.machine.configuration.outboxEntriesMax + 2 * plan.capacity, lag: 0,
                lagMax: 0))
    }

    /// Takes what can be read from SUB's connections and DEALER, in any order.
    private func readAll(_ peer: Peer) throws(Violation) {
        let time = time(peer)
        while peer.isAlive {
            let fromReducer = peer.fromReducer.readableAt <= now
            var count = fromReducer ? 1 : 0
            for pipe in peer.subscriber.pipes where pipe.readableAt <= now { count += 1 }
            if count == 0 { return }
            var choice = pick(count)
            if fromReducer, choice == count - 1 {
                guard let frame = peer.fromReducer.popFirst() else { return }
                noteEnd(frame, heardBy: peer)
                if peer.role == .observer { try observe(frame, isReply: true, peer) }
                peer.machine.receiveReply(frame, at: time)
            } else {
                let pipe = peer.subscriber.pipes.firstIndex {
                    guard $0.readableAt <= now else { return false }
                    choice -= 1
                    return choice < 0
                }
                guard let pipe, let frame = peer.subscriber.pipes[pipe].popFirst() else { return }
                if !frame.isForObservers, frame.history == peer.machine.history { peer.heardAt = now }
                noteEnd(frame, heardBy: peer)
                if case .tick(let tick) = frame.message { noteTick(tick, frame.epoch, at: peer) }
                if frame.isForObservers {
                    try observe(frame, isReply: false, peer)
                } else {
                    peer.machine.receivePublished(frame, at: time)
                }
                if peer.subscriber.pipes.count > 1 { peer.subscriber.dropEmpty() }
            }
            try settleAccounts(of: peer)
        }
    }

    /// Pushes what is ready, as far as the socket takes it.
    func push(_ peer: Peer) throws(Violation) {
        guard !peer.pusher.pipes.isEmpty else { return }
        while peer.isAlive, let batch = peer.machine.nextBatch() {
            try noteSent(batch, by: peer)
            if peer.pusher.pipes[peer.pusher.pipes.count - 1].count >= plan.pipeMax {
                peer.machine.couldNotPush(batch)
                return
            }
            if !peer.isPusherDead { send(batch, from: peer) }
        }
    }

    func noteSent(_ batch: Batch, by peer: Peer) throws(Violation) {
        let ids = peer.accounts.ids(
            from: batch.first + peer.machine.outbox.base, count: batch.entries.count)
        guard ids.count == batch.entries.count, !ids.contains(0) else {
            throw Violation(.nothingLost, "peer \(peer.index) sends an entry again after its outcome: \(batch)")
        }
        countSent(batch, by: peer)
        try observe(.sent(batch.history, batch.session, first: batch.first, ids: ids))
    }

    // MARK: Actions and accounts

    /// After every call of a machine: notes new entries, does what the machine wishes, and tells outcomes.
    /// - Parameter made: the entry that was just handed to the machine, if it was an event or the end of an effect.
    func settleAccounts(of peer: Peer, _ made: SentEntry? = nil) throws(Violation) {
        try noteNewEntries(of: peer, made)
        while true {
            let wishes = peer.machine.takeActions()
            if wishes.isEmpty { break }
            for wish in wishes { try fulfil(wish, peer) }
            guard peer.isAlive else { return }
            try noteNewEntries(of: peer, nil)
        }
        if peer.isResumed { peer.machine.kept(settled: peer.machine.outbox.settled) }
        let settled = peer.machine.settledNumber
        if settled > peer.accounts.settled {
            for id in peer.accounts.settle(upTo: settled) {
                try observe(.told(id: id, .applied(.initial), isUnheard: false))
            }
        } else if settled < peer.accounts.settled || peer.machine.lastNumber < peer.accounts.last {
            // The session was lost, and everything under way was told so: numbers begin anew.
            peer.accounts = OutboxAccounts(settled: settled)
        }
        if peer.hasEnded { try depart(peer) }
        if peer.hasFinished { try leave(peer) }
    }

    private func noteNewEntries(of peer: Peer, _ made: SentEntry?) throws(Violation) {
        let last = peer.machine.lastNumber
        while peer.accounts.last < last {
            var sent: SentEntry
            if let made { sent = made } else { sent = try sentEntry(peer.accounts.last + 1, of: peer) }
            entryCount += 1
            sent.id = entryCount
            peer.accounts.accept(sent.id)
            try observe(.accepted(sent))
        }
    }

    private func sentEntry(_ number: UInt64, of peer: Peer) throws(Violation) -> SentEntry {
        guard let entry = peer.machine.entry(number) else {
            throw Violation(.nothingLost, "peer \(peer.index) has no entry \(number)")
        }
        return SentEntry(
            id: 0, peer: peer.index, kind: entry.kind, effect: entry.effect, attempt: entry.attempt,
            index: bodyIndex(peer, entry), payload: nil, wantsSeq: entry.wantsSeq)
    }

    private func bodyIndex(_ peer: Peer, _ entry: Entry) -> Int {
        entry.effect.flatMap { peer.bodies.run(of: $0) }.flatMap { peer.bodies[$0]?.next } ?? 0
    }

    private func fulfil(_ wish: PeerAction, _ peer: Peer) throws(Violation) {
        switch wish {
        case .send(let message): try send(message, from: peer)
        case .connect where peer.role == .local: wakeReducer(at: now)
        case .connect:
            peer.isConnected = true
            peer.isSubscriberDead = false
            peer.subscriber = .init(pipes: [Pipe()])
            subscribe(peer)
            rebuildPusher(peer)
        case .rebuildPush: if peer.role != .local { rebuildPusher(peer) }
        case .run(let grant): try begin(grant, on: peer)
        case .update(let effect, let attempt, let request):
            guard let run = peer.bodies.run(of: effect), peer.bodies[run]?.attempt == attempt else { return }
            try renew(run, of: peer, request)
        case .stop(let effect, let attempt):
            guard let run = peer.bodies.run(of: effect), peer.bodies[run]?.attempt == attempt else { return }
            endBody(run, of: peer)
        case .settled(let number, let outcome):
            guard let id = peer.accounts.tell(number) else {
                throw Violation(.nothingLost, "peer \(peer.index) hears of \(number), which is not under way")
            }
            let isUnheard = now > peer.heardAt + UInt64(plan.silenceLimit.wholeNanoseconds)
            try observe(.told(id: id, outcome, isUnheard: isUnheard))
        case .hasRoom: try resume(peer)
        case .keptWaiting(let reason): say("peer \(peer.index) is kept waiting: \(reason)")
        case .refused(let refused): throw Violation(.progress, "peer \(peer.index) is not let in: \(refused)")
        case .loopEnded:
            try demandHeard(by: peer)
            peer.hasEnded = true
        case .finished: peer.hasFinished = true
        }
    }

    private func rebuildPusher(_ peer: Peer) {
        peer.isPusherDead = now < peer.collectorLostUntil
        // The old socket is closed: what it had not handed over is gone.
        if let old = peer.pusher.pipes.indices.last { _ = peer.pusher.pipes[old].cut(&random) }
        peer.pusher.pipes.append(Pipe())
        peer.pusher.dropEmpty()
    }

    /// A worker that was asked to go has handed everything back.
    private func leave(_ peer: Peer) throws(Violation) {
        say("peer \(peer.index) has left")
        peer.isAlive = false
        try observe(.departed(peer: peer.index))
        try addPeer(peer.role, peer.slot)
    }

    func say(_ text: @autoclosure () -> String) {
        if isTranscribing { transcript?.note(.word(text()), at: now) }
    }
}
