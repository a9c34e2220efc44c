import LoopCluster
import LoopCore
import LoopWire

/// The effects that run in workers, and the events that clients send.
extension PeerActor {
    func begin(_ grant: Grant) throws(Violation) {
        try observe(.ran(peer: peer.index, peer.machine.history, grant))
        let body = Peer.Body(
            grant: grant, run: world.roster.nextID(), script: try script(for: grant))
        peer.bodies[body.run] = body
        world.agenda.note(
            .effectStep(peer: Int32(peer.index), run: body.run), at: now + between(.milliseconds(1), .milliseconds(200))
        )
    }

    /// A running body gets a newer request.
    func renew(_ run: UInt32, _ request: [UInt8]) throws(Violation) {
        guard var body = peer.bodies[run] else { return }
        // After a loss of records the state may request the same effect again.
        if loop.limits.requestsDiffer, !world.tally.hasLostRecords, body.grant.request == request {
            throw Violation(.nothingStale, "\(body.effect) is updated to the request that it has")
        }
        body.grant.request = request
        body.script = try script(for: body.grant)
        if body.isAtRest { world.agenda.note(.effectStep(peer: Int32(peer.index), run: run), at: now) }
        body.isAtRest = false
        peer.bodies[run] = body
    }

    private func script(for grant: Grant) throws(Violation) -> Work.Script {
        let job = Job(
            grant: grant, history: peer.machine.history, feedback: peer.machine.feedbackName(of: grant.effect))
        return try world.drawing { (work, draw) throws(Violation) in try work.script(for: job, &draw) }
    }

    func effectStep(_ run: UInt32) throws(Violation) {
        guard peer.isAlive, peer.bodies.contains(run) else { return }
        let frozenUntil = peer.role == .local ? candidate.process.frozenUntil : peer.life.frozenUntil
        if frozenUntil > now {
            return world.agenda.note(.effectStep(peer: Int32(peer.index), run: run), at: frozenUntil)
        }
        while var body = peer.bodies[run] {
            if let held = body.held {
                guard try send(held, of: body) else { return }
                continue
            }
            if world.standsStill {
                peer.bodies.change(run) { $0.isAtRest = true }
                return
            }
            let step = try world.drawing(for: peer) { (work, draw) throws(Violation) in
                try work.next(&body.script, &draw)
            }
            switch step {
            case .send(let payload):
                body.held = payload
                body.endsWithHeld = try world.drawing(for: peer) { (work, draw) throws(Violation) in
                    work.endsWithItsEvent(body.script, &draw)
                }
            case .pause(let nanoseconds):
                if nanoseconds > 0 {
                    peer.bodies[run] = body
                    return world.agenda.note(.effectStep(peer: Int32(peer.index), run: run), at: now + nanoseconds)
                }
            case .end(let failure): return try end(body, failure)
            case .rest: body.isAtRest = true
            }
            peer.bodies[run] = body
            if body.isAtRest { return }
        }
    }

    private func end(_ body: Peer.Body, _ failure: Failure?) throws(Violation) {
        let entry = SentEntry(
            id: 0, peer: peer.index, kind: failure == nil ? .completed : .failed, effect: body.effect,
            attempt: body.attempt, index: body.next, payload: nil, wantsSeq: false)
        peer.machine.effectEnded(body.effect, body.attempt, failure: failure)
        peer.bodies[body.run] = nil
        try settleAccounts(entry)
        wake(at: now + 10_000)
    }

    /// Sends the event that a body keeps. The body keeps it while the outbox is full.
    /// - Returns: whether the body continues.
    private func send(_ payload: [UInt8], of body: Peer.Body) throws(Violation) -> Bool {
        let luck = world.random.fraction()
        let (wantsSeq, wantsAnswer) = (luck < 0.2, luck < 0.05 && !body.endsWithHeld)
        var entry = SentEntry(
            id: 0, peer: peer.index, kind: .event, effect: body.effect, attempt: body.attempt,
            index: body.next, payload: payload[...], wantsSeq: wantsSeq, wantsAnswer: wantsAnswer)
        let result = peer.machine.send(
            payload[...], of: (body.effect, body.attempt), wantsSeq: wantsSeq, isLast: body.endsWithHeld,
            wantsAnswer: wantsAnswer)
        if case .accepted(let number) = result, peer.machine.entry(number)?.kind == .failed {
            // The event is too large, so the machine has made a failure of it.
            (entry.kind, entry.payload, entry.wantsSeq, entry.wantsAnswer) = (.failed, nil, false, false)
        }
        switch result {
        case .accepted where body.endsWithHeld || entry.kind == .failed:
            peer.bodies[body.run] = nil
            try settleAccounts(entry)
            wake(at: now + 10_000)
            return false
        case .accepted:
            peer.bodies.change(body.run) {
                $0.held = nil
                $0.next += 1
                $0.isWaitingForSpace = false
            }
            try settleAccounts(entry)
            wake(at: now + 10_000)
            return peer.isAlive
        case .full:
            peer.bodies.change(body.run) { $0.isWaitingForSpace = true }
            return false
        case .refused(let refusal) where refusal.reason == .tooLarge:
            // The error ends the body, as in a node.
            try end(body, Failure(message: "\(refusal)"))
            return false
        case .refused(let refusal):
            // The local peer's machine may know of the effect's end before its body does.
            try settleAccounts()
            if !peer.bodies.contains(body.run) { return false }
            throw Violation(.nothingLost, "\(body.effect) \(body.attempt) runs, and may not send: \(refusal)")
        }
    }

    /// A client sends the rest of its events, or new ones that are due, and notes when it continues.
    func clientEvent() throws(Violation) {
        guard peer.life.stage == .running, !peer.life.hasEnded, let pause = peer.client.pause else { return }
        if peer.life.frozenUntil > now {
            return world.agenda.note(.clientEvent(Int32(peer.index)), at: peer.life.frozenUntil)
        }
        if peer.client.unsent.isEmpty {
            if world.standsStill { return }
            let burst = try world.drawing(for: peer) { (work, draw) throws(Violation) in
                try work.burst(of: peer.slot, &draw)
            }
            peer.client.unsent = burst.events
            peer.client.pause = burst.pause
        } else {
            peer.client.pause = pause
        }
        while let payload = peer.client.unsent.first {
            guard try send(payload) else {
                peer.client.isWaitingForSpace = true
                // There are more events to send.
                peer.client.pause = peer.client.pause ?? 0
                return
            }
            peer.client.unsent.removeFirst()
        }
        wake(at: now + 10_000)
        if let pause = peer.client.pause { world.agenda.note(.clientEvent(Int32(peer.index)), at: now + pause) }
    }

    /// - Returns: whether the outbox had space.
    private func send(_ payload: [UInt8]) throws(Violation) -> Bool {
        let luck = world.random.fraction()
        let (wantsSeq, wantsAnswer) = (luck < 0.2, luck < 0.1)
        let entry = SentEntry(
            id: 0, peer: peer.index, kind: .event, effect: nil, attempt: .none, index: 0, payload: payload[...],
            wantsSeq: wantsSeq, wantsAnswer: wantsAnswer)
        switch peer.machine.send(payload[...], of: nil, wantsSeq: wantsSeq, wantsAnswer: wantsAnswer) {
        case .accepted: try settleAccounts(entry)
        case .full: return false
        // The sender knows at once that nothing was accepted.
        case .refused(let refusal) where refusal.reason == .tooLarge: break
        case .refused(let refusal) where refusal.reason == .ended && !peer.heardEnds.isEmpty: break
        case .refused(let refusal): throw Violation(.nothingLost, "a client may not send: \(refusal)")
        }
        return true
    }

    /// The outbox has space again.
    func resume() throws(Violation) {
        if peer.client.isWaitingForSpace {
            peer.client.isWaitingForSpace = false
            world.agenda.note(.clientEvent(Int32(peer.index)), at: now)
        }
        for run in peer.bodies.takeWaiting() {
            world.agenda.note(.effectStep(peer: Int32(peer.index), run: run), at: now)
        }
    }
}
