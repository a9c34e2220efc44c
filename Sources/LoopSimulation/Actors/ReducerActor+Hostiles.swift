import LoopCluster
import LoopCore
import LoopKeys
import LoopWire

/// Hostile processes: what they send, how it reaches the reducer, and what they overhear.
extension ReducerActor {
    // MARK: At the hostile processes

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
