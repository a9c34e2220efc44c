import LoopCluster
import LoopCore
import LoopWire

/// Workers and clients: their processes' turns, and the accounts of what they sent.
extension SimulatedCluster {
    func addPeer(_ role: SimulatedPeer.Role) {
        let id = PeerID(high: random.next(), low: random.next())
        let offset = UInt64.random(in: 0...1_000_000_000_000, using: &random)
        let configuration = PeerConfiguration(
            peer: id, loop: SlotLoop.name, schema: UInt64(SlotLoop.schema),
            fingerprint: DefinitionFingerprint(of: SlotLoop()).value,
            feedbacks: DefinitionFingerprint(of: SlotLoop()).feedbacks,
            groups: role == .worker ? [Placement.workers.group] : [], capacity: role == .worker ? plan.capacity : 0,
            name: "\(role) \(peers.count)", outboxEntriesMax: plan.outboxEntriesMax, outboxEntriesReserved: 8,
            outboxBytesMax: 1 << 20)
        var machine = PeerMachine(configuration: configuration, at: MonotonicTime(nanoseconds: now + offset))
        machine.brokenRules = brokenRules
        let peer = SimulatedPeer(
            index: peers.count, id: id, role: role, machine: machine, clockOffset: offset, route: [])
        peers.append(peer)
        peersByID[id] = peer.index
        renewRoute(of: peer)
        wake(peer, at: now)
        if role == .client { agenda.note(.clientEvent(peer.index), at: now + latency()) }
    }

    /// A DEALER connection is made anew: ROUTER gives it another routing id, and what was under way is gone.
    func renewRoute(of peer: SimulatedPeer) {
        peersByRoute[peer.route] = nil
        let number = nextID()
        peer.route = withUnsafeBytes(of: number.littleEndian) { [UInt8]($0) }
        peersByRoute[peer.route] = peer.index
        peer.toReducer.removeAll()
        peer.fromReducer.removeAll()
    }

    /// A SUB connection is made anew; the publisher hears of the subscription a little later.
    func renewSubscription(of peer: SimulatedPeer) {
        peer.subscriber.pipes.append(Pipe())
        peer.subscribedAt = now + 2 * latency()
    }

    func time(_ peer: SimulatedPeer) -> MonotonicTime { MonotonicTime(nanoseconds: now + peer.clockOffset) }

    func wake(_ peer: SimulatedPeer, at time: UInt64) {
        let time = max(time, peer.frozenUntil)
        guard peer.isAlive, time < peer.wakesAt else { return }
        peer.wakesAt = time
        agenda.note(.peerTurn(peer.index), at: time)
    }

    func peerTurn(_ peer: SimulatedPeer) throws(Violation) {
        guard now >= peer.wakesAt else { return }
        peer.wakesAt = .max
        guard peer.isAlive else { return }
        if peer.frozenUntil > now { return wake(peer, at: peer.frozenUntil) }
        try readAll(peer)
        guard peer.isAlive else { return }
        peer.machine.advance(to: time(peer))
        try settleAccounts(of: peer)
        try push(peer)
        guard peer.isAlive else { return }
        let deadline = max(peer.machine.deadline.nanoseconds, peer.clockOffset) - peer.clockOffset
        var next = max(deadline, now + 100_000)
        for pipe in peer.subscriber.pipes { if let time = pipe.readableAt { next = min(next, max(time, now)) } }
        if let time = peer.fromReducer.readableAt { next = min(next, max(time, now)) }
        wake(peer, at: next)
    }

    /// Takes what can be read from SUB's connections and DEALER, in any order.
    private func readAll(_ peer: SimulatedPeer) throws(Violation) {
        while peer.isAlive {
            var sources: [Int?] = peer.subscriber.pipes.indices.filter {
                peer.subscriber.pipes[$0].isReadable(at: now)
            }
            if peer.fromReducer.isReadable(at: now) { sources.append(nil) }
            guard let source = sources.randomElement(using: &random) else { return }
            do throws(WireError) {
                if let pipe = source {
                    guard let bytes = peer.subscriber.pipes[pipe].popFirst() else { continue }
                    let (topic, frame) = try PeerFrame.published(bytes[...])
                    precondition(topic == .inbox(loop, peer.id), "a frame went to the wrong inbox")
                    peer.machine.receivePublished(frame, at: time(peer))
                } else if let bytes = peer.fromReducer.popFirst() {
                    peer.machine.receiveReply(try PeerFrame(bytes: bytes[...]), at: time(peer))
                }
            } catch {
                preconditionFailure("the bytes of a reducer's frame cannot be read: \(error)")
            }
            peer.subscriber.dropEmpty()
            try settleAccounts(of: peer)
        }
    }

    /// Pushes what is ready, as far as the socket takes it.
    func push(_ peer: SimulatedPeer) throws(Violation) {
        guard !peer.pusher.pipes.isEmpty else { return }
        while peer.isAlive, let batch = peer.machine.nextBatch() {
            for (offset, entry) in batch.entries.enumerated() {
                let number = batch.first + UInt64(offset)
                guard let id = peer.entriesInFlight[number] else {
                    throw Violation(.nothingLost, "peer \(peer.index) sends \(entry) again after its outcome")
                }
                try observe(.sent(batch.history, batch.session, number: number, id: id))
            }
            let last = peer.pusher.pipes.count - 1
            if peer.pusher.pipes[last].count >= plan.pipeMax {
                peer.machine.couldNotPush(batch)
                return
            }
            if peer.isPusherDead { continue }
            let arrival = now + latency()
            peer.pusher.pipes[last].append(batch.bytes, arrival: arrival)
            wakeReducer(at: max(arrival, peer.pusher.pipes[last].stalledUntil))
        }
    }

    // MARK: Actions and accounts

    /// After every call of a machine: notes new entries, does what the machine wishes, and tells outcomes.
    func settleAccounts(of peer: SimulatedPeer, _ made: [UInt64: SentEntry] = [:]) throws(Violation) {
        try noteNewEntries(of: peer, made)
        var wishes = peer.machine.takeActions()
        while !wishes.isEmpty {
            for wish in wishes { try fulfil(wish, peer) }
            guard peer.isAlive else { return }
            try noteNewEntries(of: peer, [:])
            wishes = peer.machine.takeActions()
        }
        let settled = peer.machine.outbox.settled
        if settled > peer.settledNumber {
            for number in (peer.settledNumber + 1)...settled {
                guard let id = peer.entriesInFlight.removeValue(forKey: number) else { continue }
                try observe(.told(id: id, .applied(.initial)))
            }
        }
        peer.settledNumber = settled
        peer.lastNumber = peer.machine.outbox.last
        try observe(
            .measured(
                entries: peer.machine.outbox.count, entriesMax: plan.outboxEntriesMax + 2 * plan.capacity, lag: 0,
                lagMax: 0))
    }

    private func noteNewEntries(of peer: SimulatedPeer, _ made: [UInt64: SentEntry]) throws(Violation) {
        if peer.machine.outbox.last < peer.lastNumber { peer.lastNumber = peer.machine.outbox.last }
        guard peer.machine.outbox.last > peer.lastNumber else { return }
        for (number, entry) in peer.machine.outbox.unsettled where number > peer.lastNumber {
            let sent =
                made[number]
                ?? SentEntry(
                    id: nextID(), peer: peer.index, kind: entry.kind, effect: entry.effect, attempt: entry.attempt,
                    index: bodyIndex(peer, entry), event: nil, wantsSeq: entry.wantsSeq)
            if peer.entriesInFlight.updateValue(sent.id, forKey: number) != nil {
                throw Violation(.nothingLost, "peer \(peer.index) gives the number \(number) a second time")
            }
            try observe(.accepted(sent))
        }
        peer.lastNumber = peer.machine.outbox.last
    }

    private func bodyIndex(_ peer: SimulatedPeer, _ entry: Entry) -> Int {
        entry.effect.flatMap { peer.runs[$0] }.flatMap { peer.bodies[$0]?.next } ?? 0
    }

    private func fulfil(_ wish: PeerAction, _ peer: SimulatedPeer) throws(Violation) {
        switch wish {
        case .send(let message):
            let arrival = now + latency()
            peer.toReducer.append(message.bytes(loop: loop), arrival: arrival)
            wakeReducer(at: arrival)
        case .connect:
            peer.isConnected = true
            peer.isSubscriberDead = false
            peer.subscriber = .init(pipes: [Pipe()])
            peer.subscribedAt = now + 2 * latency()
            rebuildPusher(peer)
        case .rebuildPush: rebuildPusher(peer)
        case .run(let grant): try begin(grant, on: peer)
        case .update(let effect, let attempt, let request):
            guard let run = peer.runs[effect], peer.bodies[run]?.attempt == attempt else { return }
            peer.bodies[run]?.request = request
        case .stop(let effect, let attempt):
            guard let run = peer.runs[effect], peer.bodies[run]?.attempt == attempt else { return }
            endBody(run, of: peer)
        case .settled(let number, let outcome):
            guard let id = peer.entriesInFlight.removeValue(forKey: number) else {
                throw Violation(.nothingLost, "peer \(peer.index) hears of \(number), which is not under way")
            }
            try observe(.told(id: id, outcome))
        case .hasRoom: try resume(peer)
        case .refused(let refused): throw Violation(.progress, "peer \(peer.index) is not let in: \(refused)")
        case .loopEnded: throw Violation(.progress, "peer \(peer.index) was told that the loop has ended")
        case .finished: try leave(peer)
        }
    }

    private func rebuildPusher(_ peer: SimulatedPeer) {
        peer.isPusherDead = now < peer.collectorLostUntil
        // The old socket is closed: what it had not handed over is gone.
        if let old = peer.pusher.pipes.indices.last { _ = peer.pusher.pipes[old].cut(&random) }
        peer.pusher.pipes.append(Pipe())
        peer.pusher.dropEmpty()
    }

    /// A worker that was asked to go has handed everything back.
    private func leave(_ peer: SimulatedPeer) throws(Violation) {
        say("peer \(peer.index) has left")
        peer.isAlive = false
        try observe(.died(peer: peer.index))
        addPeer(peer.role)
    }

    func say(_ text: String) { transcript.note(.word(text), at: now) }
}
