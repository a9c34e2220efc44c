import CBOR
import LoopCluster
import LoopCore
import LoopWire

/// The messages between the reducer and its peers.
extension ReducerActor {
    // MARK: Arrivals at the reducer

    func nextArrival() -> UInt64 {
        var earliest = UInt64.max
        for peer in world.roster.present where isConnected(peer) {
            earliest = min(earliest, peer.sockets[here].readableAtReducer)
        }
        if plan.hasHostiles { earliest = min(earliest, world.hostiles.readableAt) }
        return earliest
    }

    /// Reads all control messages, in any order among the peers.
    func drainRouter(_ intake: inout ReducerMachine) throws(Violation) {
        for request in process.operatorRequests {
            guard let document = try? CBOR.encode(request) else { continue }
            let principal = world.keys == nil ? Principal.unknown : .key(SimulatedKeys.operators)
            try hand(.administration(request: 0, document[...]), from: .router([0]), by: principal, &intake)
        }
        process.operatorRequests.removeAll()
        var waiting = world.roster.present.filter {
            $0.sockets[here].dealer.toReducer.readableAt <= now && isConnected($0)
        }
        while !waiting.isEmpty {
            let position = pick(waiting.count)
            let peer = waiting[position]
            if let message = peer.sockets[here].dealer.toReducer.popFirst() {
                world.roster.noteRead(of: peer, at: now)
                if isTranscribing { world.transcript?.note(.toReducer(peer.index, message), at: now) }
                if case .join(let joinRequest) = message { try observe(.askedToJoin(joinRequest)) }
                try hand(
                    message, from: .router(peer.sockets[here].dealer.route), by: world.principal(of: peer), &intake)
            }
            if peer.sockets[here].dealer.toReducer.readableAt > now { waiting.remove(at: position) }
        }
    }

    /// Reads the subscriptions that have reached the publisher.
    func drainSubscriptions(_ intake: inout ReducerMachine) throws(Violation) {
        var begun: [UpdateStream] = []
        for peer in world.roster.present where isConnected(peer) && peer.sockets[here].subscriber.takeNews(at: now) {
            guard try mayFollowAll(peer, &intake) else { continue }
            intake.noticeSubscription(of: peer.id)
            for case .updates(_, let stream) in peer.sockets[here].subscriber.topics { begun.append(stream) }
        }
        if !plan.observers.isEmpty { intake.follow(subscriptions()) }
        for stream in begun { intake.publishAgain(stream) }
    }

    /// The subscriptions that the publisher knows. It learns of each after a while.
    func subscriptions() -> Subscriptions {
        var subscriptions = Subscriptions()
        for peer in world.roster.present
        where peer.isAlive && isConnected(peer) && peer.sockets[here].subscriber.isSubscribed(at: now) {
            for topic in peer.sockets[here].subscriber.topics {
                switch topic {
                case .updates(_, let stream):
                    if !subscriptions.streams.contains(stream) { subscriptions.streams.append(stream) }
                case .events: subscriptions.hasEvents = true
                case .transitions: subscriptions.hasTransitions = true
                case .inbox, .tick: break
                }
            }
        }
        return subscriptions
    }

    /// Reads some batches, in any order among the connections.
    func drainCollector(_ intake: inout ReducerMachine) throws(Violation) {
        var waiting: [(peer: Peer, pipe: Int)] = []
        for peer in world.roster.present {
            for pipe in peer.sockets[here].pusher.connections.pipes.indices
            where isConnected(peer) && peer.sockets[here].pusher.connections.pipes[pipe].readableAt <= now {
                waiting.append((peer, pipe))
            }
        }
        var count = 0
        while count < plan.drainMax, !waiting.isEmpty {
            let position = pick(waiting.count)
            let (peer, pipe) = waiting[position]
            if let batch = peer.sockets[here].pusher.connections.pipes[pipe].popFirst() {
                count += 1
                world.roster.noteRead(of: peer, at: now)
                if isTranscribing { world.transcript?.note(.batch(peer.index, batch), at: now) }
                try hand(batch, by: world.principal(of: peer), &intake)
            }
            if peer.sockets[here].pusher.connections.pipes[pipe].readableAt > now { waiting.remove(at: position) }
        }
        intake.hasUnreadBatches = !waiting.isEmpty
        if count > 0 { world.roster.forgetTheGone() }
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
                try world.retries.check(message, of: turn.moment) { world.checkers.count(.bounded) }
            }
            switch message {
            case .inbox(let id, let frame):
                try observeListeners(of: id)
                guard let peer = world.roster.present.last(where: { $0.id == id }) else { continue }
                if peer.role == .local {
                    try at(peer).hear(frame, isReply: false)
                } else {
                    publish(frame, to: peer)
                }
            case .reply(.router(let route), let frame):
                if isLeading {
                    try world.transfers.check(frame, to: .router(route), at: turn.moment.at, most: plan.transfersMax) {
                        world.checkers.count(.progress)
                    }
                }
                guard
                    let peer = world.roster.present.first(where: {
                        $0.isAlive && $0.sockets[here].dealer.route == route
                    }),
                    isConnected(peer), !peer.sockets[here].dealer.isDead
                else { continue }
                if case .busy(.join, _, let reason) = frame.message, !reason.isEmpty, !plan.isUnguarded, isLeading {
                    try demandNoSpace(for: peer)
                }
                let arrival = max(now + latency(), peer.sockets[here].cutFromReducerUntil)
                peer.sockets[here].dealer.fromReducer.append(world.network.carry(frame, on: nil), arrival: arrival)
                if isTranscribing { world.transcript?.note(.toPeer(peer.index, frame, isLost: false), at: now) }
                at(peer).wake(at: arrival)
            case .reply(.local, let frame):
                if let local = world.roster.local { try at(local).hear(frame, isReply: true) }
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
                try world.demandFit(part.notable.count, bytesEach: NotableOutcome.byteCount, "an acknowledgement")
                let bytes = part.answers.reduce(part.notable.count * NotableOutcome.byteCount) { $0 + $1.byteCount }
                if part.notable.count > 1 {
                    try world.demandFit(bytes, bytesEach: 1, "an acknowledgement with answers")
                }
            case .introduction, .joinAccepted, .commands, .tick, .assignments, .busy, .statePart, .status, .ended,
                .refused, .update, .transitions, .serverHeartbeat, .answer, .delta, .unchanged, .stateHash,
                .goodbyeHeard, .refusalDetails, .redirect, .noLeader:
                break
            }
        case .publish: break
        }
    }

    func publish(_ frame: PeerFrame, on topic: Topic) {
        guard !plan.observers.isEmpty || world.candidates.count > 1 else { return }
        for peer in world.roster.present where peer.sockets[here].subscriber.topics.contains(topic) {
            publish(frame, to: peer, on: topic)
        }
    }

    func publish(_ frame: PeerFrame, to peer: Peer, on topic: Topic? = nil) {
        if case .joinAccepted = frame.message, isLeading { peer.lease.reach(at: now) }
        let isLost =
            peer.sockets[here].subscriber.dropsNext(at: now, holding: plan.pipeMax) || !peer.isAlive
            || !isConnected(peer)
        if isTranscribing { world.transcript?.note(.toPeer(peer.index, frame, isLost: isLost), at: now) }
        guard !isLost, let connection = peer.sockets[here].subscriber.connections.present else { return }
        // If messages of an earlier session can arrive again over another connection, all connections move up. Then this frame
        // arrives over an earlier one too.
        if plan.hasReplays { keep(frame, saidTo: peer) }
        let arrival = max(now + latency(), peer.sockets[here].cutFromReducerUntil)
        let carried = world.network.carry(frame, on: topic ?? .inbox(loop.id, peer.id))
        at(peer).wake(at: peer.sockets[here].subscriber.connections.append(carried, arrival: arrival, over: connection))
    }

    /// Keeps a frame to a process, so that it can arrive again. After a change of the process's session, frames of the former
    /// session may arrive over an earlier connection.
    func keep(_ frame: PeerFrame, saidTo peer: Peer) {
        guard let again = peer.sockets[here].subscriber.keep(frame) else { return }
        var late = Pipe<PeerFrame>()
        var arrival = now + latency()
        for frame in again {
            arrival += between(.zero, .milliseconds(50))
            late.append(frame, arrival: arrival)
        }
        peer.sockets[here].subscriber.connections.insertEarlier(late)
        if !late.isEmpty { at(peer).wake(at: late.readableAt) }
    }

    /// SUB makes another connection. The publisher learns of the subscription a little later.
    func renewSubscription(of peer: Peer) {
        peer.sockets[here].subscriber.reconnect(knownFrom: now + 2 * latency())
        wake(at: peer.sockets[here].subscriber.knownFrom)
    }

    func beginLocally() throws(Violation) {
        guard loop.hasLocalEffects else { return }
        try world.addPeer(.local, 0)
    }

    /// The process has ended, or has discarded its machines.
    func endLocally() throws(Violation) {
        guard let local = world.roster.forgetLocal() else { return }
        try observe(.died(peer: local.index))
    }

    /// Passes the messages of its own peer to the reducer.
    func drainLocal(_ intake: inout ReducerMachine, at time: MonotonicTime) throws(Violation) {
        guard let local = world.roster.local else { return }
        local.machine.advance(to: time)
        try at(local).settleAccounts()
        for message in local.said {
            if isTranscribing { world.transcript?.note(.toReducer(local.index, message), at: now) }
            intake.receive(message, from: .local, by: .local)
        }
        local.said.removeAll()
        while let batch = local.machine.nextBatch() {
            try at(local).noteSent(batch)
            if isTranscribing { world.transcript?.note(.batch(local.index, batch), at: now) }
            intake.receive(batch, by: .local)
        }
    }
}
