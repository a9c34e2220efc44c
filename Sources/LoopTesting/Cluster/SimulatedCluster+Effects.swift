import LoopCluster
import LoopCore
import LoopWire

/// What runs in workers, and what clients send.
extension SimulatedCluster {
    func begin(_ grant: Grant, on peer: SimulatedPeer) throws(Violation) {
        try observe(.ran(peer: peer.index, peer.machine.history, grant))
        guard let request = try? SlotCoder().decode(UInt64.self, from: grant.request) else {
            throw Violation(.nothingLost, "the request of \(grant.effect) cannot be read: \(grant.request)")
        }
        let feedback = grant.effect.feedback
        let slot = feedback == 3 ? Int(request) : Int(feedback) + 1
        let isEndless = feedback == 0 || feedback == 1 && grant.effect.seq.value % 2 == 0
        let body = SimulatedPeer.Body(
            effect: grant.effect, attempt: grant.attempt, run: nextID(), slot: feedback == 0 ? Int(request % 2) : slot,
            request: grant.request, stepsLeft: pick(5),
            fails: isFaulty && chance(plan.failureShare), finishes: chance(0.3), isEndless: isEndless)
        peer.runs[grant.effect] = body.run
        peer.bodies[body.run] = body
        agenda.note(
            .effectStep(peer: Int32(peer.index), run: body.run), at: now + between(.milliseconds(1), .milliseconds(200))
        )
    }

    func endBody(_ run: UInt32, of peer: SimulatedPeer) {
        guard let body = peer.bodies.removeValue(forKey: run) else { return }
        if peer.runs[body.effect] == run { peer.runs[body.effect] = nil }
    }

    func effectStep(_ peer: SimulatedPeer, _ run: UInt32) throws(Violation) {
        guard peer.isAlive, let body = peer.bodies[run] else { return }
        if peer.frozenUntil > now {
            return agenda.note(.effectStep(peer: Int32(peer.index), run: run), at: peer.frozenUntil)
        }
        if body.isEndless {
            if isFaulty && body.held == nil { peer.bodies[run]?.held = event(.step, body.slot) }
            if body.held != nil { try send(run, of: peer) }
        } else if body.stepsLeft > 0 {
            if body.held == nil {
                let isLast = body.stepsLeft == 1 && body.finishes && !body.fails
                peer.bodies[run]?.held = event(isLast ? .finish : .step, body.slot)
            }
            try send(run, of: peer)
        } else {
            return try end(body, on: peer)
        }
        guard let body = peer.bodies[run], !body.isWaitingForRoom else { return }
        var pause = between(100_000_000, 1_000_000_000)
        // Some events follow each other at once, and travel in one batch.
        if !body.isEndless { pause = chance(0.4) ? 0 : between(0, 300_000_000) }
        agenda.note(.effectStep(peer: Int32(peer.index), run: run), at: now + pause)
    }

    private func end(_ body: SimulatedPeer.Body, on peer: SimulatedPeer) throws(Violation) {
        let failure = body.fails ? Failure(message: "no luck", isFinal: chance(0.1)) : nil
        let entry = SentEntry(
            id: 0, peer: peer.index, kind: failure == nil ? .completed : .failed, effect: body.effect,
            attempt: body.attempt, index: body.next, event: nil, wantsSeq: false)
        peer.machine.effectEnded(body.effect, body.attempt, failure: failure)
        endBody(body.run, of: peer)
        try settleAccounts(of: peer, entry)
        wake(peer, at: now + 10_000)
    }

    private func event(_ kind: SlotEvent.Kind, _ slot: Int) -> SlotEvent {
        SlotEvent(kind: kind, slot: slot, id: UInt64(nextID()))
    }

    /// Sends the event that a body holds; it keeps it while the outbox is full.
    private func send(_ run: UInt32, of peer: SimulatedPeer) throws(Violation) {
        guard let body = peer.bodies[run], let held = body.held else { return }
        let event = poisoned(held, of: peer)
        peer.bodies[run]?.held = event
        let isGarbage = chance(plan.garbageShare)
        let payload = isGarbage ? [0xff, 0x00] : try encoded(event)
        let wantsSeq = chance(0.2)
        let entry = SentEntry(
            id: 0, peer: peer.index, kind: .event, effect: body.effect, attempt: body.attempt,
            index: body.next, event: isGarbage ? nil : event, wantsSeq: wantsSeq)
        switch peer.machine.send(payload[...], of: (body.effect, body.attempt), wantsSeq: wantsSeq) {
        case .accepted:
            peer.bodies[run]?.held = nil
            peer.bodies[run]?.next += 1
            peer.bodies[run]?.stepsLeft -= 1
            peer.bodies[run]?.isWaitingForRoom = false
            try settleAccounts(of: peer, entry)
            wake(peer, at: now + 10_000)
        case .full: peer.bodies[run]?.isWaitingForRoom = true
        case .refused(let refusal):
            throw Violation(.nothingLost, "\(body.effect) \(body.attempt) runs, and may not send: \(refusal)")
        }
    }

    private static let wishes: [SlotEvent.Kind] = [.on, .on, .off, .bump]

    /// A client sends a few events, if it is time for them, and notes the next.
    func clientEvent(_ peer: SimulatedPeer) throws(Violation) {
        guard peer.isAlive, now + 1_000_000_000 < faultsEnd else { return }
        if peer.frozenUntil > now { return agenda.note(.clientEvent(Int32(peer.index)), at: peer.frozenUntil) }
        let count = Self.bursts[pick(Self.bursts.count)]
        for _ in 0..<count {
            guard try sendEvent(of: peer) else {
                peer.isWaitingForRoom = true
                return
            }
        }
        wake(peer, at: now + 10_000)
        let mean = Double(count * plan.clientCount) / plan.eventsPerSecond
        agenda.note(.clientEvent(Int32(peer.index)), at: now + between(0, UInt64(2e9 * mean)))
    }

    /// How many events a client sends at once.
    private static let bursts = [1, 1, 1, 4, 12]

    /// - Returns: whether the outbox had room.
    private func sendEvent(of peer: SimulatedPeer) throws(Violation) -> Bool {
        let kind: SlotEvent.Kind = SimulatedCluster.wishes[pick(4)]
        let isGarbage = chance(plan.garbageShare)
        let event = poisoned(event(kind, pick(SlotLoop.slotCount)), of: peer)
        let payload = isGarbage ? [0xfe] : try encoded(event)
        let wantsSeq = chance(0.2)
        let entry = SentEntry(
            id: 0, peer: peer.index, kind: .event, effect: nil, attempt: .none, index: 0,
            event: isGarbage ? nil : event, wantsSeq: wantsSeq)
        switch peer.machine.send(payload[...], of: nil, wantsSeq: wantsSeq) {
        case .accepted: try settleAccounts(of: peer, entry)
        case .full: return false
        case .refused(let refusal): throw Violation(.nothingLost, "a client may not send: \(refusal)")
        }
        return true
    }

    /// The outbox has room again.
    func resume(_ peer: SimulatedPeer) throws(Violation) {
        if peer.isWaitingForRoom {
            peer.isWaitingForRoom = false
            agenda.note(.clientEvent(Int32(peer.index)), at: now)
        }
        for run in peer.bodies.keys.sorted() where peer.bodies[run]?.isWaitingForRoom == true {
            peer.bodies[run]?.isWaitingForRoom = false
            agenda.note(.effectStep(peer: Int32(peer.index), run: run), at: now)
        }
    }

    private func poisoned(_ event: SlotEvent, of peer: SimulatedPeer) -> SlotEvent {
        guard peer.sendsPoison else { return event }
        peer.sendsPoison = false
        return SlotEvent(kind: .poison, slot: event.slot, id: event.id)
    }

    private func encoded(_ event: SlotEvent) throws(Violation) -> [UInt8] {
        do {
            return try SlotCoder().encode(event)
        } catch {
            throw Violation(.progress, "\(event) cannot be encoded: \(error)")
        }
    }
}
