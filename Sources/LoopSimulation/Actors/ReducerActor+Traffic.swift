import CBOR
import LoopCluster
import LoopCore
import LoopKeys
import LoopWire

/// The messages between the reducer, its peers and hostile processes, and which of them the keys allow.
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
        intake.notice(ShellFacts(hasUnreadBatches: !waiting.isEmpty))
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

    // MARK: - Keys, and what happens to connections when they change (protocol, section 12)

    /// Whether a process has connections. A process whose key is not admitted tries again and again.
    func isConnected(_ peer: Peer) -> Bool {
        guard let key = world.key(of: peer) else { return true }
        return candidate.keys.admits(key)
    }

    /// The reducer reads its folder. Connections of keys whose rights have changed end, and are made again.
    func admitKeys(_ intake: inout ReducerMachine) throws(Violation) {
        guard let keys = world.keys, let (cut, added) = candidate.keys.read(keys) else { return }
        intake.admit(candidate.keys.allowed)
        if isLeading { try observe(.keysAdmitted(candidate.keys.allowed)) }
        for peer in world.roster.present {
            guard let key = world.key(of: peer) else { continue }
            if cut.contains(key) { try closeConnections(of: peer, key, &intake) }
            if added.contains(key) { connect(peer) }
        }
        world.hostiles.endListeners { cut.contains($1.key) }
        try world.replaceRefused()
    }

    /// Messages that libzmq had read before are still passed to the machine.
    private func closeConnections(of peer: Peer, _ key: PublicKey, _ intake: inout ReducerMachine) throws(Violation) {
        for _ in 0..<pick(4) {
            guard let message = peer.sockets[here].dealer.toReducer.popFirst() else { break }
            try hand(message, from: .router(peer.sockets[here].dealer.route), by: .key(key), &intake)
        }
        for pipe in peer.sockets[here].pusher.connections.pipes.indices {
            for _ in 0..<pick(4) {
                guard let batch = peer.sockets[here].pusher.connections.pipes[pipe].popFirst() else { break }
                try hand(batch, by: .key(key), &intake)
            }
        }
        at(peer).renewRoute(at: here)
        if peer.sockets[here].subscriber.isConnected { peer.sockets[here].subscriber.connections.pipes = [] }
    }

    /// Messages that wait in PUSH leave over the new connection.
    private func connect(_ peer: Peer) {
        at(peer).renewRoute(at: here)
        if peer.sockets[here].subscriber.isConnected { renewSubscription(of: peer) }
        at(peer).wake(at: now)
    }

    // MARK: What reaches the machine

    /// Passes a message to the machine, and shows the checkers what it has changed.
    func hand(
        _ message: ToReducer, from route: Route, by principal: Principal, _ intake: inout ReducerMachine
    ) throws(Violation) {
        let before = intake.progress
        world.transfers.note(message, from: route, at: now)
        intake.receive(message, from: route, by: principal)
        try judge(.message(message), principal, from: before, to: intake.progress)
    }

    /// Passes a batch to the machine. If it is not refused, it must be read.
    func hand(_ batch: Batch, by principal: Principal, _ intake: inout ReducerMachine) throws(Violation) {
        let before = intake.progress
        let read = intake.read(of: batch.session)
        intake.receive(batch, by: principal)
        let after = intake.progress
        if batch.history == world.storage.history, before.refusalCount == after.refusalCount {
            world.reads.note(batch, after: read)
        }
        try judge(.batch(batch), principal, from: before, to: after)
    }

    /// Whether a subscription is allowed.
    func mayFollow(
        _ topic: Topic, _ principal: Principal, of peer: PeerID?, _ intake: inout ReducerMachine
    ) throws(Violation) -> Bool {
        let before = intake.progress
        let may = intake.mayFollow(topic, principal, of: peer)
        try judge(.subscription(topic), principal, from: before, to: intake.progress)
        return may
    }

    /// The publisher learns of the subscriptions of a connection. The first that is not allowed ends the connection.
    /// - Returns: whether all are allowed.
    func mayFollowAll(_ peer: Peer, _ intake: inout ReducerMachine) throws(Violation) -> Bool {
        guard world.keys != nil else { return true }
        for topic in [.inbox(loop.id, peer.id)] + peer.sockets[here].subscriber.topics {
            if try mayFollow(topic, world.principal(of: peer), of: peer.id, &intake) { continue }
            peer.sockets[here].subscriber.connections.pipes = []
            peer.sockets[here].subscriber.reconnect(knownFrom: now + 200_000_000)
            wake(at: peer.sockets[here].subscriber.knownFrom)
            return false
        }
        return true
    }

    /// The decisions of a process that was replaced as leader have no effect, because it will get no receipt.
    private func judge(
        _ heard: Heard, _ principal: Principal, from before: TurnProgress, to after: TurnProgress
    ) throws(Violation) {
        if world.keys != nil, isLeading { try observe(.judged(heard, by: principal, from: before, to: after)) }
    }

    // MARK: - Hostile processes: what they send, how it reaches the reducer, and what they overhear

    /// A hostile process tries something.
    /// - Returns: whether it could.
    func actHostilely(_ dice: inout SeededRandom) throws(Violation) -> Bool {
        // An append to a database may be lost although its process continues. No process has received what waits for its receipt.
        guard isLeading, world.storage.database == nil || process.turns.isEmpty else { return false }
        guard process.isUp, let hostile = Hostile.allCases.randomElement(using: &dice),
            let act = plan.hostileActs.randomElement(using: &dice)
        else { return false }
        let words = try knowledge(of: hostile).words(for: act, by: hostile, &dice)
        say("hostile \(hostile): \(act)")
        world.hostiles.say(words, by: hostile, arrival: now + latency())
        wake(at: world.hostiles.readableAt)
        return !words.isEmpty
    }

    /// Hostile claims in the first moments of an epoch, when effects can be claimed.
    func claimHostilely() throws(Violation) {
        guard plan.hasHostiles, world.isFaulty, chance(0.3) else { return }
        for hostile in Hostile.allCases {
            let words = try knowledge(of: hostile).words(for: .claimEffects, by: hostile, &world.random)
            world.hostiles.say(words, by: hostile, arrival: now)
        }
    }

    private func knowledge(of hostile: Hostile) throws(Violation) -> HostileKnowledge {
        let sessions = process.machine?.journaled.sessions
        func session(_ id: SessionID) -> HostileKnowledge.Session? {
            sessions?[id].map { HostileKnowledge.Session(id: id, peer: $0.peer, watermark: $0.watermark) }
        }
        let isOwn = { (record: SessionRecord) in record.peer == hostile.peer || record.owner == hostile.key }
        return HostileKnowledge(
            loop: loop.id, schema: UInt64(Work.Definition.schema), fingerprint: loop.fingerprint.value,
            groups: loop.workerGroups, history: world.storage.history, epoch: process.machine?.epoch ?? .none,
            own: process.machine?.journaled.sessionByPeer[hostile.peer].flatMap(session),
            others: (sessions.map { $0.filter { !isOwn($0.value) }.map(\.key) } ?? []).sorted().compactMap(session),
            running: world.roster.bodies.map { ClaimedAttempt(effect: $0.effect, attempt: $0.attempt) },
            payload: try hostilePayload())
    }

    /// With keys, nothing that hostile processes send is applied. Without keys, it may be an event.
    private func hostilePayload() throws(Violation) -> [UInt8] {
        guard plan.isUnguarded, chance(0.5) else { return [0xff, 0x00] }
        return try world.drawing { (work, draw) throws(Violation) in try work.burst(of: 0, &draw).events.first } ?? []
    }

    // MARK: At the reducer

    /// Passes the messages of hostile processes to the reducer.
    func drainHostiles(_ intake: inout ReducerMachine) throws(Violation) {
        for (word, hostile, _) in world.hostiles.take(at: now) {
            let principal = principal(of: hostile)
            switch word {
            case .message(let message):
                let message = world.network.carry(message)
                if isTranscribing { world.transcript?.note(.toReducer(-1, message), at: now) }
                try hand(message, from: .router(hostile.route), by: principal, &intake)
            case .batch(let batch): try hand(world.network.carry(batch), by: principal, &intake)
            case .subscription(let bytes): try subscribe(hostile, bytes, principal, &intake)
            }
        }
    }

    private func principal(of hostile: Hostile) -> Principal {
        world.keys == nil || hostile.allowed == nil ? .unknown : .key(hostile.key)
    }

    /// Only whole topics are served. Any other subscription ends its connection.
    private func subscribe(
        _ hostile: Hostile, _ bytes: [UInt8], _ principal: Principal, _ intake: inout ReducerMachine
    ) throws(Violation) {
        guard let topic = try? Topic(bytes: bytes[...]),
            try mayFollow(topic, principal, of: nil, &intake)
        else {
            world.hostiles.endListeners { $1 == hostile }
            return
        }
        guard case .inbox(_, let peer) = topic else { return }
        intake.noticeSubscription(of: peer)
        world.hostiles.listen(to: peer, by: hostile)
    }

    /// Ends the connections that listen to the inbox of another key.
    func settleInboxes(_ owner: (PeerID) -> PublicKey?) {
        guard world.keys != nil else { return }
        world.hostiles.endListeners { inbox, hostile in owner(inbox).map { $0 != hostile.key } ?? false }
    }

    /// A frame of an inbox leaves.
    func observeListeners(of inbox: PeerID) throws(Violation) {
        guard world.keys != nil else { return }
        for listener in world.hostiles.listeners where listener.inbox == inbox {
            try observe(.overheard(inboxOf: inbox, by: listener.by.key))
        }
    }
}
