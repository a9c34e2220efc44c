import LoopCluster
import LoopWire

/// What a process sends, and how it finds the leader.
extension PeerActor {
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
}
