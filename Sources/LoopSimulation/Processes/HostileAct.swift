import CBOR
import LoopCore
import LoopWire

/// The acts that hostile processes try.
enum HostileAct: CaseIterable {
    /// To join in their own role, which is allowed.
    case join
    /// To join as the peer of another's session, in that session.
    case joinAsAnother
    /// To join as the peer of another's session, with another history or an earlier session.
    case joinAsAnotherAnew
    /// To report missing records: those of an epoch, of a session, or of entries that never existed.
    case reportLostEpoch, reportLostSession, reportLostEntries
    /// To join for groups that they may not serve.
    case joinForeignGroups
    /// To claim everything that runs, in their own session.
    case claimEffects
    /// To send control messages in another's session.
    case speakForAnother
    /// To send requests of operators.
    case operate
    /// To read the state.
    case fetch
    /// To send an event in another's session.
    case sendForAnother
    /// To send an entry of an effect in another's session.
    case commitForAnother
    /// To send entries of a kind that they may not send, in their own session.
    case sendWhatIsNotForThem
    /// To listen to another's inbox, to topics, or to bytes that are no topic.
    case listen
}

/// The knowledge of hostile processes about a cluster.
struct HostileKnowledge {
    struct Session {
        let id: SessionID
        let peer: PeerID
        let watermark: UInt64
    }

    let loop: LoopID
    let schema: UInt64
    let fingerprint: UInt64
    /// The groups of the loop's effects.
    let groups: [String]
    let history: History
    let epoch: Epoch
    /// Its own session, or nil if it has none.
    let own: Session?
    /// The sessions of others, at least one.
    let others: [Session]
    let running: [ClaimedAttempt]
    /// The bytes of its events.
    let payload: [UInt8]

    /// The words of a hostile process for an act, or none if it lacks something for the act.
    func words(for act: HostileAct, by hostile: Hostile, _ dice: inout SeededRandom) -> [HostileWord] {
        guard let other = others.randomElement(using: &dice) else { return [] }
        var join = joinRequest(of: hostile)
        switch act {
        case .join: break
        case .joinAsAnother: (join.peer, join.session, join.history) = (other.peer, other.id, history)
        case .joinAsAnotherAnew:
            join.peer = other.peer
            join.history = [.none, history, History(dice.next() | 1)].randomElement(using: &dice) ?? .none
            join.session = SessionID(UInt64.random(in: 0...other.id.value, using: &dice))
            if join.session == own?.id { join.session = .none }
        case .reportLostEpoch:
            join.history = history
            join.epoch = Epoch(
                number: epoch.number + UInt64.random(in: 0...3, using: &dice), nonce: dice.next() | 1)
        case .reportLostSession: (join.history, join.session) = (history, SessionID(other.id.value + 1_000_000))
        case .reportLostEntries:
            (join.peer, join.history, join.session) = (other.peer, history, other.id)
            join.watermark = other.watermark + 1_000_000
        case .joinForeignGroups:
            join.groups = dice.fraction() < 0.5 ? groups : [Hostile.group] + groups
            join.capacity = 8
        case .claimEffects:
            guard let own else { break }
            return [.message(.join(join)), .message(.claim(own.id, epoch, ClaimPart(running, number: dice.next())))]
        case .speakForAnother: return [.message(speech(for: other, &dice))]
        // An admin may do this.
        case .operate where hostile == .admin: return []
        case .operate: return operatorRequest(&dice).map { [.message($0)] } ?? []
        case .fetch: return [.message(.stateRequest(transfer: 0, part: 0))]
        case .sendForAnother: return [.batch(batch(in: other, of: nil))]
        case .commitForAnother: return [.batch(batch(in: other, of: running.randomElement(using: &dice)))]
        case .sendWhatIsNotForThem:
            guard let own else { break }
            // A sender's entries are those without an effect. An observer may send neither kind.
            let isOfEffect = hostile == .sender || hostile == .observer && dice.fraction() < 0.3
            guard isOfEffect else { return [.batch(batch(in: own, of: nil))] }
            return running.randomElement(using: &dice).map { [.batch(batch(in: own, of: $0))] } ?? []
        case .listen: return [.subscription(subscription(to: other, &dice))]
        }
        return [.message(.join(join))]
    }

    private func speech(for session: Session, _ dice: inout SeededRandom) -> ToReducer {
        let heartbeat = Heartbeat(
            session: session.id, epoch: epoch, echo: .max, applied: .max, settled: .max, capacity: .max)
        let speeches: [ToReducer] = [
            .claim(session.id, epoch, ClaimPart([], number: .max)), .assignmentsRequest(session.id, epoch),
            .outcomesRequest(session.id, after: dice.next()), .goodbye(session.id, session.peer, history),
            .heartbeat(heartbeat),
        ]
        return speeches.randomElement(using: &dice) ?? .heartbeat(heartbeat)
    }

    private func operatorRequest(_ dice: inout SeededRandom) -> ToReducer? {
        let requests: [AdministrationRequest] = [
            .effects(EffectSelection()), .quarantine, .trim(before: dice.next()),
            .history(from: 0, through: nil, after: nil), .verify,
            .state(at: nil), .retryParked(effect: "0.1.0", who: "hostile"), .retryQuarantined(id: 1, who: "hostile"),
            .dropQuarantined(id: 1, who: "hostile"),
        ]
        let document = requests.randomElement(using: &dice).flatMap { try? CBOR.encode($0) }
        return document.map { .administration(request: 1, $0[...]) }
    }

    private func subscription(to session: Session, _ dice: inout SeededRandom) -> [UInt8] {
        let inbox = Topic.inbox(loop, session.peer).bytes
        let topics: [[UInt8]] = [
            inbox, inbox, inbox.dropLast(4), [], [0], Topic.transitions(loop).bytes, Topic.tick(loop).bytes,
        ]
        return topics.randomElement(using: &dice) ?? inbox
    }

    func joinRequest(of hostile: Hostile) -> JoinRequest {
        JoinRequest(
            peer: hostile.peer, session: .none, history: .none, epoch: .none, watermark: 0, schema: schema,
            fingerprint: fingerprint, capacity: 0, groups: hostile.groups, name: "hostile \(hostile)")
    }

    /// The next entry of a session.
    private func batch(in session: Session, of effect: ClaimedAttempt?) -> Batch {
        var entry = Entry(kind: .event, payload: payload[...])
        if let effect { (entry.effect, entry.attempt) = (effect.effect, effect.attempt) }
        return Batch(
            loop: loop, history: history, session: session.id, settled: 0, applied: 0, first: session.watermark + 1,
            entries: EntryRun([entry]))
    }
}
