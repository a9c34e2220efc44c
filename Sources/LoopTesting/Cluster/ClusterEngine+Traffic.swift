import CBOR
import LoopCluster
import LoopCore
import LoopWire

/// What travels between the reducer and its peers.
///
/// Messages travel as values. One in sixteen goes through its bytes on the way: enough to see that bytes and values say the
/// same, which the tests of the wire check for every message, and cheap enough for millions of them.
extension ClusterEngine {
    private func goesThroughBytes() -> Bool {
        messageCount += 1
        return messageCount % 16 == 0
    }

    // MARK: Arrivals at the reducer

    func nextArrivalAtReducer() -> UInt64 {
        var earliest = UInt64.max
        for peer in present {
            earliest = min(earliest, peer.toReducer.readableAt)
            for pipe in peer.pusher.pipes { earliest = min(earliest, pipe.readableAt) }
        }
        return earliest
    }

    /// All control messages, in any order among the peers.
    func drainRouter(_ intake: inout ReducerCore) throws(Violation) {
        for request in operatorRequests {
            guard let document = try? CBOR.encode(request) else { continue }
            intake.receive(.administration(request: 0, document[...]), from: .router([0]))
        }
        operatorRequests.removeAll()
        var waiting = present.filter { $0.toReducer.readableAt <= now }
        while !waiting.isEmpty {
            let position = pick(waiting.count)
            let peer = waiting[position]
            if let message = peer.toReducer.popFirst() {
                noteRead(of: peer)
                if isTranscribing { transcript?.note(.toReducer(peer.index, message), at: now) }
                if case .greet(let greeting) = message { try observe(.greeted(greeting)) }
                intake.receive(message, from: .router(peer.route))
            }
            if peer.toReducer.readableAt > now { waiting.remove(at: position) }
        }
    }

    /// What operators ask, and what the publisher hears of subscriptions.
    func drainSubscriptions(_ intake: inout ReducerCore) {
        var begun: [UpdateStream] = []
        for peer in present where peer.isSubscriptionNew && peer.subscribedAt <= now {
            peer.isSubscriptionNew = false
            intake.noticeSubscription(of: peer.id)
            for case .updates(_, let stream) in peer.topics { begun.append(stream) }
        }
        if !plan.observers.isEmpty { intake.follow(subscriptions()) }
        for stream in begun { intake.publishAgain(stream) }
    }

    /// Some batches, in any order among the connections.
    func drainCollector(_ intake: inout ReducerCore) {
        var waiting: [(peer: Peer, pipe: Int)] = []
        for peer in present {
            for pipe in peer.pusher.pipes.indices where peer.pusher.pipes[pipe].readableAt <= now {
                waiting.append((peer, pipe))
            }
        }
        var count = 0
        while count < plan.drainMax, !waiting.isEmpty {
            let position = pick(waiting.count)
            let (peer, pipe) = waiting[position]
            if let batch = peer.pusher.pipes[pipe].popFirst() {
                count += 1
                noteRead(of: peer)
                if isTranscribing { transcript?.note(.batch(peer.index, batch), at: now) }
                noteRead(batch, after: intake.read(of: batch.session))
                intake.receive(batch)
            }
            if peer.pusher.pipes[pipe].readableAt > now { waiting.remove(at: position) }
        }
        intake.hasUnreadBatches = !waiting.isEmpty
        if count > 0 { forgetTheGone() }
    }

    /// What a process said before it ended may arrive long after, and may open a session: that is idle from then on.
    private func noteRead(of peer: Peer) {
        if goneAt[peer.id] != nil { goneAt[peer.id] = now }
    }

    func pick(_ count: Int) -> Int { count == 1 ? 0 : Int.random(in: 0..<count, using: &random) }

    /// A dead peer is looked at until the last of its messages was read.
    private func forgetTheGone() {
        guard present.contains(where: { !$0.isAlive }) else { return }
        forget { !$0.isAlive && $0.toReducer.isEmpty && $0.pusher.isEmpty }
    }

    func forget(_ isGone: (Peer) -> Bool) {
        for peer in present where isGone(peer) { peers[peer.index] = nil }
        present.removeAll { peers[$0.index] == nil }
    }

    // MARK: Departures

    func deliver(_ messages: [Outbound]) throws(Violation) {
        for message in messages {
            try demandFit(of: message)
            try observe(.left(message))
            try demandRetriesWait(message)
            switch message {
            case .inbox(let id, let frame):
                guard let peer = present.last(where: { $0.id == id }) else { continue }
                if peer.role == .local {
                    try hearLocally(peer, frame, isReply: false)
                } else {
                    publish(frame, to: peer)
                }
            case .reply(.router(let route), let frame):
                guard let peer = present.first(where: { $0.isAlive && $0.route == route }) else { continue }
                if case .busy(_, let reason) = frame.message, !reason.isEmpty { try demandNoRoom(for: peer) }
                let arrival = max(now + latency(), peer.cutFromReducerUntil)
                peer.fromReducer.append(carried(frame, nil), arrival: arrival)
                if isTranscribing { transcript?.note(.toPeer(peer.index, frame, isLost: false), at: now) }
                wake(peer, at: arrival)
            case .reply(.local, let frame): if let local { try hearLocally(local, frame, isReply: true) }
            case .publish(let topic, let frame): publish(frame, on: topic)
            }
        }
    }

    /// What grows with what there is to say fits into its message, or is one item.
    private func demandFit(of message: Outbound) throws(Violation) {
        switch message {
        case .inbox(_, let frame), .reply(_, let frame):
            switch frame.message {
            case .acknowledgement(let part), .outcomes(let part):
                try demandFit(part.notable.count, bytesEach: NotableOutcome.byteCount, "an acknowledgement")
            default: break
            }
        case .publish: break
        }
    }

    private func demandFit(_ count: Int, bytesEach: Int, _ what: String) throws(Violation) {
        guard let bytesMax = plan.payloadBytesMax, count > max(1, bytesMax / bytesEach) else { return }
        throw Violation(.bounded, "\(what) has \(count * bytesEach) bytes in one message, the limit is \(bytesMax)")
    }

    func publish(_ frame: PeerFrame, to peer: Peer, on topic: Topic? = nil) {
        if case .welcome = frame.message { noteWelcome(of: peer) }
        var isLost = !peer.isAlive || !peer.isConnected || peer.isSubscriberDead || now < peer.subscribedAt
        if peer.burst > 0 {
            peer.burst -= 1
            isLost = true
        }
        let last = peer.subscriber.pipes.count - 1
        if last >= 0, peer.subscriber.pipes[last].count >= plan.pipeMax { isLost = true }
        if isTranscribing { transcript?.note(.toPeer(peer.index, frame, isLost: isLost), at: now) }
        guard !isLost, last >= 0 else { return }
        if plan.hasReplays { noteSaid(frame, to: peer) }
        let arrival = max(now + latency(), peer.cutFromReducerUntil)
        peer.subscriber.pipes[last].append(carried(frame, topic ?? .inbox(loop, peer.id)), arrival: arrival)
        wake(peer, at: max(arrival, peer.subscriber.pipes[last].stalledUntil))
    }

    private func carried(_ frame: PeerFrame, _ topic: Topic?) -> PeerFrame {
        guard goesThroughBytes() else { return frame }
        let bytes = frame.bytes(topic: topic)
        do {
            guard let topic else { return try PeerFrame(bytes: bytes[...]) }
            let (read, frame) = try PeerFrame.published(bytes[...])
            precondition(read == topic, "a frame went to \(read), not to \(topic)")
            return frame
        } catch {
            preconditionFailure("the bytes of a reducer's frame cannot be read: \(error)")
        }
    }

    func send(_ message: ToReducer, from peer: Peer) throws(Violation) {
        if peer.role == .local {
            peer.said.append(message)
            return wakeReducer(at: now)
        }
        if case .claim(_, _, let part) = message {
            try demandFit(part.attempts.count, bytesEach: ClaimedAttempt.byteCount, "a claim")
            // Between two parts a connection comes to stand, or is gone: the first of them found none. Of no generator, on
            // whose numbers everything else depends.
            if part.parts > 1, isFaulty, (now &+ UInt64(part.part)) &* 0x9E37_79B9 % 8 == 0 { return }
        }
        var message = message
        if peer.forgetsClaims { message = try forgetful(message, peer) }
        if goesThroughBytes() {
            let bytes = message.bytes(loop: loop)
            guard let read = try? ToReducer(bytes: bytes[...], loop: loop) else {
                preconditionFailure("the bytes of a peer's message cannot be read: \(bytes)")
            }
            message = read
        }
        let arrival = max(now + latency(), peer.cutToReducerUntil)
        peer.toReducer.append(message, arrival: arrival)
        wakeReducer(at: arrival)
    }

    func send(_ batch: Batch, from peer: Peer) {
        var batch = batch
        if goesThroughBytes() {
            let bytes = batch.bytes
            guard let read = try? Batch(bytes: bytes) else {
                preconditionFailure("the bytes of a peer's batch cannot be read: \(bytes)")
            }
            batch = read
        }
        if plan.hasReplays { peer.recentBatches.note(batch) }
        let arrival = max(now + latency(), peer.cutToReducerUntil)
        let last = peer.pusher.pipes.count - 1
        peer.pusher.pipes[last].append(batch, arrival: arrival)
        wakeReducer(at: max(arrival, peer.pusher.pipes[last].stalledUntil))
    }
}
