import CBOR
import LoopCluster
import LoopCore
import LoopWire

/// The messages between the reducer and its peers.
extension ClusterEngine {
    // MARK: Arrivals at the reducer

    func nextArrivalAtReducer() -> UInt64 {
        var earliest = UInt64.max
        for peer in roster.present where isConnected(peer) { earliest = min(earliest, peer.sockets.readableAtReducer) }
        if plan.hasHostiles { earliest = min(earliest, hostiles.readableAt) }
        return earliest
    }

    /// Reads all control messages, in any order among the peers.
    func drainRouter(_ intake: inout ReducerMachine) throws(Violation) {
        for request in process.operatorRequests {
            guard let document = try? CBOR.encode(request) else { continue }
            let principal = keys == nil ? Principal.unknown : .key(SimulatedKeys.operators)
            try hand(.administration(request: 0, document[...]), from: .router([0]), by: principal, &intake)
        }
        process.operatorRequests.removeAll()
        var waiting = roster.present.filter { $0.sockets.dealer.toReducer.readableAt <= now && isConnected($0) }
        while !waiting.isEmpty {
            let position = pick(waiting.count)
            let peer = waiting[position]
            if let message = peer.sockets.dealer.toReducer.popFirst() {
                roster.noteRead(of: peer, at: now)
                if isTranscribing { transcript?.note(.toReducer(peer.index, message), at: now) }
                if case .join(let joinRequest) = message { try observe(.askedToJoin(joinRequest)) }
                try hand(message, from: .router(peer.sockets.dealer.route), by: principal(of: peer), &intake)
            }
            if peer.sockets.dealer.toReducer.readableAt > now { waiting.remove(at: position) }
        }
    }

    /// Reads the subscriptions that have reached the publisher.
    func drainSubscriptions(_ intake: inout ReducerMachine) throws(Violation) {
        var begun: [UpdateStream] = []
        for peer in roster.present where isConnected(peer) && peer.sockets.subscriber.takeNews(at: now) {
            guard try mayFollowAll(peer, &intake) else { continue }
            intake.noticeSubscription(of: peer.id)
            for case .updates(_, let stream) in peer.sockets.subscriber.topics { begun.append(stream) }
        }
        if !plan.observers.isEmpty { intake.follow(subscriptions()) }
        for stream in begun { intake.publishAgain(stream) }
    }

    /// Reads some batches, in any order among the connections.
    func drainCollector(_ intake: inout ReducerMachine) throws(Violation) {
        var waiting: [(peer: Peer, pipe: Int)] = []
        for peer in roster.present {
            for pipe in peer.sockets.pusher.connections.pipes.indices
            where isConnected(peer) && peer.sockets.pusher.connections.pipes[pipe].readableAt <= now {
                waiting.append((peer, pipe))
            }
        }
        var count = 0
        while count < plan.drainMax, !waiting.isEmpty {
            let position = pick(waiting.count)
            let (peer, pipe) = waiting[position]
            if let batch = peer.sockets.pusher.connections.pipes[pipe].popFirst() {
                count += 1
                roster.noteRead(of: peer, at: now)
                if isTranscribing { transcript?.note(.batch(peer.index, batch), at: now) }
                try hand(batch, by: principal(of: peer), &intake)
            }
            if peer.sockets.pusher.connections.pipes[pipe].readableAt > now { waiting.remove(at: position) }
        }
        intake.hasUnreadBatches = !waiting.isEmpty
        if count > 0 { roster.forgetTheGone() }
    }

    // MARK: Departures

    /// - Parameter turn: the turn that made the messages.
    func deliver(_ messages: [Outbound], of turn: TurnUnderWay) throws(Violation) {
        if !messages.isEmpty { try demandInJournal(turn) }
        for message in messages {
            try demandFit(of: message)
            // Late messages of a former leader have a receipt. They are older than what the other checkers compare.
            if isLeading { try observe(.left(message)) }
            if !plan.isUnguarded, isLeading {
                try retries.check(message, of: turn.moment) { checkers.count(.bounded) }
            }
            switch message {
            case .inbox(let id, let frame):
                try observeListeners(of: id)
                guard let peer = roster.present.last(where: { $0.id == id }) else { continue }
                if peer.role == .local {
                    try hearLocally(peer, frame, isReply: false)
                } else {
                    publish(frame, to: peer)
                }
            case .reply(.router(let route), let frame):
                if isLeading {
                    try transfers.check(frame, to: .router(route), at: turn.moment.at, most: plan.transfersMax) {
                        checkers.count(.progress)
                    }
                }
                guard let peer = roster.present.first(where: { $0.isAlive && $0.sockets.dealer.route == route }),
                    isConnected(peer), !peer.sockets.dealer.isDead
                else { continue }
                if case .busy(.join, _, let reason) = frame.message, !reason.isEmpty, !plan.isUnguarded, isLeading {
                    try demandNoSpace(for: peer)
                }
                let arrival = max(now + latency(), peer.sockets.cutFromReducerUntil)
                peer.sockets.dealer.fromReducer.append(network.carry(frame, on: nil), arrival: arrival)
                if isTranscribing { transcript?.note(.toPeer(peer.index, frame, isLost: false), at: now) }
                wake(peer, at: arrival)
            case .reply(.local, let frame): if let local = roster.local { try hearLocally(local, frame, isReply: true) }
            case .publish(let topic, let frame): publish(frame, on: topic)
            }
        }
    }

    /// Checks that a message that grows with its content fits into its limit, or has only one item.
    private func demandFit(of message: Outbound) throws(Violation) {
        switch message {
        case .inbox(_, let frame), .reply(_, let frame):
            switch frame.message {
            case .acknowledgement(let part), .outcomes(let part):
                try demandFit(part.notable.count, bytesEach: NotableOutcome.byteCount, "an acknowledgement")
                let bytes = part.answers.reduce(part.notable.count * NotableOutcome.byteCount) { $0 + $1.byteCount }
                if part.notable.count > 1 { try demandFit(bytes, bytesEach: 1, "an acknowledgement with answers") }
            case .introduction, .joinAccepted, .commands, .tick, .assignments, .busy, .statePart, .status, .ended,
                .refused, .update, .transitions, .serverHeartbeat, .answer, .delta, .unchanged, .stateHash,
                .goodbyeHeard, .refusalDetails, .redirect, .noLeader:
                break
            }
        case .publish: break
        }
    }

    private func demandFit(_ count: Int, bytesEach: Int, _ what: String) throws(Violation) {
        guard let bytesMax = plan.payloadBytesMax, count > max(1, bytesMax / bytesEach) else { return }
        throw Violation(.bounded, "\(what) has \(count * bytesEach) bytes in one message, the limit is \(bytesMax)")
    }

    func publish(_ frame: PeerFrame, to peer: Peer, on topic: Topic? = nil) {
        if case .joinAccepted = frame.message, isLeading { peer.lease.reach(at: now) }
        let isLost =
            peer.sockets.subscriber.dropsNext(at: now, holding: plan.pipeMax) || !peer.isAlive || !isConnected(peer)
        if isTranscribing { transcript?.note(.toPeer(peer.index, frame, isLost: isLost), at: now) }
        guard !isLost, let connection = peer.sockets.subscriber.connections.present else { return }
        // If messages of an earlier session can arrive again over another connection, all connections move up. Then this frame
        // arrives over an earlier one too.
        if plan.hasReplays { keep(frame, saidTo: peer) }
        let arrival = max(now + latency(), peer.sockets.cutFromReducerUntil)
        let carried = network.carry(frame, on: topic ?? .inbox(loop.id, peer.id))
        wake(peer, at: peer.sockets.subscriber.connections.append(carried, arrival: arrival, over: connection))
    }

    func send(_ message: ToReducer, from peer: Peer) throws(Violation) {
        if peer.role == .local {
            peer.said.append(message)
            return wakeReducer(at: now)
        }
        // If entries are stuck, a goodbye requests another session, and this one continues until that is granted.
        if case .goodbye(let session, let id, let history) = message, peer.machine.outbox.isEmpty {
            try observe(.saidGoodbye(PeerSession(history: history, session: session, peer: id)))
        }
        if case .claim(_, _, let part) = message {
            try demandFit(part.attempts.count, bytesEach: ClaimedAttempt.byteCount, "a claim")
            // Between two parts a connection may begin or end, so that the first part found none. The choice does not come from the
            // generator, because everything else depends on its numbers.
            if part.parts > 1, isFaulty, (now &+ UInt64(part.part)) &* 0x9E37_79B9 % 8 == 0 { return }
        }
        let said = network.carry(try forgetful(message, peer))
        if peer.sockets.dealer.isDead { return }
        let arrival = max(now + latency(), peer.sockets.cutToReducerUntil)
        peer.sockets.dealer.toReducer.append(said, arrival: arrival)
        wakeReducer(at: arrival)
    }

    func send(_ batch: Batch, from peer: Peer) {
        let carried = network.carry(batch)
        if plan.hasReplays { peer.sockets.pusher.recent.note(carried) }
        let arrival = max(now + latency(), peer.sockets.cutToReducerUntil)
        if let time = peer.sockets.pusher.connections.append(carried, arrival: arrival) { wakeReducer(at: time) }
    }
}
