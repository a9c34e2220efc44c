import LoopCluster
import LoopCore
import LoopWire

/// The reducer's process: turns as its shell takes them, crashes, restarts.
extension SimulatedCluster {
    var reducerMoment: Moment {
        Moment(
            monotonic: MonotonicTime(nanoseconds: now + reducerClockOffset),
            wall: WallTime(milliseconds: 1_700_000_000_000 + wallOffset + Int64(now / 1_000_000)))
    }

    func startReducer() throws(Violation) {
        let isFresh = history == .none || plan.isJournalVolatile
        if isFresh {
            history = History(random.next() | 1)
            journal = SimulatedJournal(history: history)
            try observe(.began(history))
        }
        reducerLife += 1
        reducerClockOffset = UInt64.random(in: 0...1_000_000_000_000, using: &random)
        wallOffset += Int64.random(in: -2000...2000, using: &random)
        var configuration = ReducerConfiguration(
            silenceLimit: plan.silenceLimit, eventBytesMax: 64, inboxWindow: plan.inboxWindow,
            sessionRetention: plan.sessionRetention)
        configuration.updatesPerSecond = 20
        var machine = ReducerMachine(
            definition: SlotLoop(), configuration: configuration, coder: SlotCoder(), history: history,
            seed: random.next(), at: reducerMoment)
        machine.brokenRules = brokenRules
        machine.subscriptions.updates = 1
        machine.subscriptions.transitions = 1
        for record in journal.records {
            do {
                try machine.replay(record)
            } catch {
                throw Violation(.replayIsExact, "\(record) cannot be replayed: \(error)")
            }
        }
        if !isFresh { try observe(.rested(ReducerSummary(machine.core))) }
        machine.begin(nonce: random.next(), at: reducerMoment)
        reducer = machine
        say("the reducer starts, epoch \(machine.epoch) of history \(machine.history)")
        wakeReducer(at: now)
    }

    func wakeReducer(at time: UInt64) {
        guard time < reducerWakesAt else { return }
        reducerWakesAt = time
        agenda.note(.reducerTurn, at: time)
    }

    /// Drain ROUTER wholly, then batches, let time pass, and hand the records to the disk.
    func reducerTurn() throws(Violation) {
        guard now >= reducerWakesAt else { return }
        reducerWakesAt = .max
        guard reducer != nil, unsynced == nil else { return }
        if reducerFrozenUntil > now { return wakeReducer(at: reducerFrozenUntil) }
        for (message, route) in readable() { reducer?.receive(message, from: route, at: reducerMoment) }
        for batch in readableBatches() { reducer?.receive(batch, at: reducerMoment) }
        reducer?.advance(to: reducerMoment)
        guard let ready = reducer?.ready() else { return }
        let (records, position, deadline) = (ready.records, ready.position, ready.deadline)
        let messages = ready.release(JournalReceipt(through: position))
        if brokenRules.contains(.nothingLeavesEarly) { try deliver(messages) }
        unsynced = Unsynced(
            records: records, position: position, deadline: deadline,
            messages: brokenRules.contains(.nothingLeavesEarly) ? [] : messages)
        if records.isEmpty { return try reducerSynced(reducerLife) }
        let duration = isNextAppendSlow ? between(.milliseconds(200), .seconds(3)) : between(.zero, plan.syncMax)
        isNextAppendSlow = false
        agenda.note(.reducerSynced(life: reducerLife), at: now + duration)
    }

    /// The records are durable: the messages leave.
    func reducerSynced(_ life: Int) throws(Violation) {
        guard life == reducerLife, let done = unsynced else { return }
        unsynced = nil
        do {
            _ = try journal.append(done.records, through: done.position)
        } catch {
            throw Violation(.durableBeforeVisible, "\(error)")
        }
        for record in done.records { try noteDurable(record) }
        try deliver(done.messages)
        if !done.records.isEmpty { try observeReducer() }
        let deadline = done.deadline.nanoseconds
        let time = deadline == .max ? .max : max(deadline, reducerClockOffset) - reducerClockOffset
        wakeReducer(at: max(now, min(time, nextArrivalAtReducer())))
    }

    private func observeReducer() throws(Violation) {
        guard let reducer else { return }
        try observe(.rested(ReducerSummary(reducer.core)))
        guard reducer.seq.value % 8 == 0 else { return }
        for peer in reducer.status().peers {
            try observe(.measured(entries: 0, entriesMax: 0, lag: peer.lag, lagMax: plan.inboxWindow + 16))
        }
    }

    private func noteDurable(_ record: Record) throws(Violation) {
        if case .event = record { eventCount += 1 }
        try observe(.journaled(history, record))
    }

    func crashReducer() throws(Violation) {
        guard reducer != nil else { return }
        reducer = nil
        if let lost = unsynced {
            unsynced = nil
            // The append may have come to its end, to a part, or to nothing.
            let survivors = lost.records.prefix(
                plan.isJournalVolatile ? 0 : Int.random(in: 0...lost.records.count, using: &random))
            journal.tear(survivors)
            for record in survivors { try noteDurable(record) }
            say("the reducer crashes; \(survivors.count) of \(lost.records.count) records stand")
        } else {
            say("the reducer crashes")
        }
        reducerLife += 1
        reducerWakesAt = .max
        for peer in peers { loseBuffers(of: peer) }
        agenda.note(.reducerStart, at: now + between(.milliseconds(5), .seconds(2)))
    }

    /// What the dead process had buffered is gone; connections are made anew.
    private func loseBuffers(of peer: SimulatedPeer) {
        for index in peer.pusher.pipes.indices {
            let lost = Int.random(in: 0...peer.pusher.pipes[index].count, using: &random)
            for _ in 0..<lost { _ = peer.pusher.pipes[index].popFirst() }
        }
        renewRoute(of: peer)
        guard peer.isConnected else { return }
        // What the old connection had delivered may be read late.
        if let last = peer.subscriber.pipes.indices.last, chance(0.3) {
            peer.subscriber.pipes[last].stalledUntil = stall()
        }
        if let last = peer.pusher.pipes.indices.last, chance(0.3) {
            peer.pusher.pipes[last].stalledUntil = stall()
            peer.pusher.pipes.append(Pipe())
        }
        renewSubscription(of: peer)
    }

    // MARK: Arrivals

    private func nextArrivalAtReducer() -> UInt64 {
        var earliest = UInt64.max
        for peer in peers {
            if let time = peer.toReducer.readableAt { earliest = min(earliest, time) }
            for pipe in peer.pusher.pipes { if let time = pipe.readableAt { earliest = min(earliest, time) } }
        }
        return earliest
    }

    private func readable() -> [(ToReducer, Route)] {
        var messages: [(ToReducer, Route)] = []
        var waiting = peers.indices.filter { peers[$0].toReducer.isReadable(at: now) }
        while let position = waiting.indices.randomElement(using: &random) {
            let peer = peers[waiting[position]]
            if let bytes = peer.toReducer.popFirst() {
                guard let message = try? ToReducer(bytes: bytes[...], loop: loop) else {
                    preconditionFailure("the bytes of a peer's message cannot be read: \(bytes)")
                }
                transcript.note(.toReducer(peer.index, message), bytes: bytes, at: now)
                messages.append((message, .router(peer.route)))
            }
            if !peer.toReducer.isReadable(at: now) { waiting.remove(at: position) }
        }
        return messages
    }

    private func readableBatches() -> [Batch] {
        var batches: [Batch] = []
        var waiting: [(peer: Int, pipe: Int)] = []
        for peer in peers {
            for pipe in peer.pusher.pipes.indices where peer.pusher.pipes[pipe].isReadable(at: now) {
                waiting.append((peer.index, pipe))
            }
        }
        while batches.count < plan.drainMax, let position = waiting.indices.randomElement(using: &random) {
            let place = waiting[position]
            let peer = peers[place.peer]
            if let bytes = peer.pusher.pipes[place.pipe].popFirst() {
                guard let batch = try? Batch(bytes: bytes[...]) else {
                    preconditionFailure("the bytes of a peer's batch cannot be read: \(bytes)")
                }
                transcript.note(.batch(peer.index, batch), bytes: bytes, at: now)
                batches.append(batch)
            }
            if !peer.pusher.pipes[place.pipe].isReadable(at: now) { waiting.remove(at: position) }
        }
        return batches
    }

    // MARK: Departures

    private func deliver(_ messages: [Outbound]) throws(Violation) {
        for message in messages {
            try observe(.left(message))
            switch message {
            case .inbox(let id, let frame):
                guard let index = peersByID[id] else { continue }
                publish(frame, to: peers[index])
            case .reply(.router(let route), let frame):
                guard let index = peersByRoute[route] else { continue }
                let bytes = frame.bytes(topic: nil)
                transcript.note(.toPeer(index, frame, isLost: false), bytes: bytes, at: now)
                let arrival = now + latency()
                peers[index].fromReducer.append(bytes, arrival: arrival)
                wake(peers[index], at: arrival)
            case .reply(.local, _), .publish: break
            }
        }
    }

    private func publish(_ frame: PeerFrame, to peer: SimulatedPeer) {
        let bytes = frame.bytes(topic: .inbox(loop, peer.id))
        var isLost = !peer.isAlive || !peer.isConnected || peer.isSubscriberDead || now < peer.subscribedAt
        if peer.burst > 0 {
            peer.burst -= 1
            isLost = true
        }
        if let pipe = peer.subscriber.pipes.last, pipe.count >= plan.pipeMax { isLost = true }
        transcript.note(.toPeer(peer.index, frame, isLost: isLost), bytes: bytes, at: now)
        guard !isLost, !peer.subscriber.pipes.isEmpty else { return }
        let arrival = now + latency()
        peer.subscriber.pipes[peer.subscriber.pipes.count - 1].append(bytes, arrival: arrival)
        wake(peer, at: max(arrival, peer.subscriber.pipes[peer.subscriber.pipes.count - 1].stalledUntil))
    }
}
