import LoopCluster
import LoopCore
import LoopKeys
import LoopWire

/// The processes besides the reducer: how they come, their keys, and what is checked for all of them.
extension World {
    /// - Parameter slot: the position among the processes of its role. A process that replaces another has its slot.
    @discardableResult
    func addPeer(_ role: Peer.Role, _ slot: Int) throws(Violation) -> Peer {
        var id = PeerID(high: random.next(), low: random.next())
        if role == .local { id = .local }
        let offset = role == .local ? candidates[0].process.clock.offset : between(0, 1_000_000_000_000)
        let (capacity, groups) =
            switch role {
            case .worker: (plan.capacity, loop.workerGroups)
            case .client, .observer: (0, [])
            case .local: (loop.limits.localCapacity, [localGroup])
            }
        var configuration = PeerConfiguration(
            peer: id, loop: Work.Definition.name, schema: UInt64(Work.Definition.schema),
            fingerprint: loop.fingerprint.value, feedbacks: loop.fingerprint.feedbacks, groups: groups,
            capacity: capacity,
            name: "\(role) \(roster.nextIndex)", outboxEntriesMax: plan.outboxEntriesMax, outboxEntriesReserved: 8,
            outboxBytesMax: loop.limits.outboxBytesMax)
        if role == .local { configuration.outboxEntriesMax += 2 * capacity }
        if let bytes = plan.payloadBytesMax { configuration.payloadBytesMax = bytes }
        if candidates.count > 1 { configuration.places = candidates.map(\.address) }
        let time = MonotonicTime(nanoseconds: now + offset)
        let earlier = role == .local ? candidates[0].process.machine?.localStream : nil
        var machine =
            earlier.map { PeerMachine(configuration: configuration, continuing: $0, at: time) }
            ?? PeerMachine(configuration: configuration, at: time)
        machine.brokenRules = brokenRules
        let peer = Peer(
            index: roster.nextIndex, slot: slot, role: role, machine: machine, clockOffset: offset,
            candidates: candidates.count, at: now)
        if let earlier {
            peer.accounts = OutboxAccounts(settled: earlier.settled)
            try observe(.goesOn(earlier.history, earlier.session, after: earlier.settled))
        }
        roster.add(peer)
        if role == .local { return peer }
        if role == .observer { try at(peer).watch(plan.observers[slot]) }
        at(peer).listenEverywhere()
        at(peer).renewRoute(at: peer.place)
        at(peer).wake(at: now)
        if role == .client {
            if plan.hasOutboxFiles { at(peer).resume(SimulatedOutbox(PeerStream(), of: id)) }
            peer.client.pause = 0
            agenda.note(.clientEvent(Int32(peer.index)), at: now + latency())
        }
        return peer
    }

    /// Another process replaces one that has ended, and continues with its outbox file, if it had one.
    func replace(_ peer: Peer) throws(Violation) {
        let new = try addPeer(peer.role, peer.slot)
        guard let outbox = peer.outbox else { return }
        at(new).resume(outbox.reopened(as: new.id))
        roster.noteBack(new)
        try observe(.inherited(ids: outbox.entryIDs, peer: new.index))
    }

    /// Other processes replace those that were refused.
    func replaceRefused() throws(Violation) {
        let gone = refusedPeers
        refusedPeers = []
        for peer in gone { try replace(peer) }
    }

    /// Damages the state in an observer's memory. The next hash must show it.
    func damageObserver(_ slot: Int) throws(Violation) {
        guard let peer = roster.living(.observer, slot), peer.observing?.damage() == true else { return }
        say("what observer \(peer.index) knows is damaged")
        try observe(.damaged(peer: peer.index))
    }

    /// The principal of a process, as its connections prove.
    func principal(of peer: Peer) -> Principal { key(of: peer).map { .key($0) } ?? .unknown }

    func key(of peer: Peer) -> PublicKey? {
        guard keys != nil else { return nil }
        return switch peer.role {
        case .worker: SimulatedKeys.key(.worker, peer.slot)
        case .client: SimulatedKeys.key(.client, peer.slot)
        case .observer: SimulatedKeys.key(.observer, peer.slot)
        case .local: nil
        }
    }

    /// An operator changes the folder.
    func changeKeys(_ dice: inout SeededRandom) -> Bool {
        guard let change = keys?.change(&dice) else { return false }
        say(change)
        wakeCandidates()
        return true
    }

    /// Every key gets its first roles and groups again, and the hostile processes end.
    func restoreKeys() {
        keys?.restore()
        hostiles.end()
        wakeCandidates()
    }

    /// A running effect, with a later attempt of another effect.
    func foreignAttempt() -> (effect: EffectID, attempt: Attempt)? {
        let bodies = roster.bodies
        guard let first = bodies.min(by: { $0.attempt < $1.attempt }),
            let last = bodies.max(by: { $0.attempt < $1.attempt }), first.effect != last.effect
        else { return nil }
        return (first.effect, last.attempt)
    }

    /// If nothing is lost, hardly anything is sent twice.
    func demandLittleLoad() throws(Violation) {
        guard plan.losesNothing, plan.end?.fault == nil else { return }
        checkers.count(.bounded)
        if tally.isLittleSentAgain { return }
        throw Violation(
            .bounded, "\(tally.sentAgainCount) of \(tally.sentCount) entries were sent again, and nothing was lost")
    }

    func demandFit(_ count: Int, bytesEach: Int, _ what: String) throws(Violation) {
        guard let bytesMax = plan.payloadBytesMax, count > max(1, bytesMax / bytesEach) else { return }
        throw Violation(.bounded, "\(what) has \(count * bytesEach) bytes in one message, the limit is \(bytesMax)")
    }
}
