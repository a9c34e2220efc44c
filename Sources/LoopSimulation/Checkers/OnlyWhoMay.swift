import LoopCluster
import LoopCore
import LoopKeys
package import LoopWire

/// Something that reached a reducer with keys over one of its sockets.
package enum Heard: Sendable {
    case message(ToReducer)
    case batch(Batch)
    /// A subscription to a whole topic.
    case subscription(Topic)
}

/// G12: with keys, only their owners take part, each as its roles allow. It is written from section 12 of the protocol. It learns
/// the owner of a session only from the journal.
///
/// What is refused must be what the section forbids, and the reverse. It must change nothing. If a message of the same turn may
/// have changed the decision, both are accepted.
struct OnlyWhoMay: Checker {
    static let promise = Promise.onlyWhoMay
    private(set) var checkCount = 0
    /// The keys that the reducer has read, or nil if it has none.
    private var keys: AllowedKeys?
    private var book = SessionBook()
    private var turn = PresentTurn()
    /// Sessions that have lost their keys, and must end with the turn.
    private var ending: Set<SessionID> = []
    /// The groups with which each peer was last let in.
    private var groups: [PeerID: [String]] = [:]
    /// The group of each feedback.
    private let placements: [String]

    init(placements: [String]) { self.placements = placements }

    private enum Verdict: Equatable {
        case allowed
        case forbidden(String)
        case either
    }

    mutating func begin(_ history: History) {
        book = SessionBook(history: history)
        (turn, ending, groups) = (PresentTurn(), [], [:])
    }

    // MARK: Turns

    mutating func beginTurn(_ progress: TurnProgress) {
        turn = PresentTurn(history: progress.history, epoch: progress.epoch)
    }

    /// The reducer has read which keys are admitted from now on.
    mutating func admit(_ new: AllowedKeys) {
        keys = new
        for (session, record) in book.sessions {
            guard let owner = record.owner else { continue }
            let isMember = book.joined[session] == turn.epoch
            let serves = isMember ? groups[record.peer] ?? [] : []
            if Self.may(join: serves, new[owner]) { continue }
            turn.touch(session, of: record.peer)
            // The peer was given a newer session, and may have been let in only in that one. Then this one has no groups.
            if record.hasSuccessor, Self.may(join: [], new[owner]) { continue }
            ending.insert(session)
        }
    }

    /// The turn's records are durable.
    mutating func endTurn() throws(Violation) {
        guard let session = ending.min() else { return }
        throw Violation(.onlyWhoMay, "session \(session) goes on, and its key is not admitted for it any more")
    }

    mutating func follow(_ record: Record) {
        book.follow(record)
        switch record {
        case .sessionRetired(let session): ending.remove(session)
        case .epochBegun, .historyBegun: ending = []
        case .event, .refused, .completed, .skipped, .granted, .attemptEnded, .sessionOpened, .sessionOwned,
            .definition,
            .stateHash, .stateMarked, .markHash, .quarantined, .operatorAction, .scheduled:
            break
        }
    }

    // MARK: What arrives

    /// Something reached the reducer's machine. A refused message has changed nothing, and has at most one answer.
    /// - Parameters:
    ///   - principal: the principal of the connection.
    ///   - before: the progress of the turn before it.
    ///   - after: the progress of the turn after it.
    mutating func judge(
        _ heard: Heard, by principal: Principal, from before: TurnProgress, to after: TurnProgress
    ) throws(Violation) {
        guard keys != nil, !before.isLost else { return }
        checkCount += 1
        let wasRefused = after.refusalCount > before.refusalCount
        if wasRefused, after.position != before.position || after.messageCount > before.messageCount + 1 {
            throw Violation(.onlyWhoMay, "what was refused has an effect: \(Self.name(heard))")
        }
        switch (verdict(on: heard, by: principal), wasRefused) {
        case (.forbidden(let why), false):
            throw Violation(.onlyWhoMay, "\(why), and is not refused: \(Self.name(heard))")
        case (.allowed, true):
            throw Violation(.onlyWhoMay, "\(name(principal)) is refused what it may: \(Self.name(heard))")
        case (.forbidden, true), (.allowed, false), (.either, _): break
        }
        if !wasRefused { note(heard, principal) }
    }

    /// A frame of a peer's inbox reaches a connection.
    mutating func overhear(_ peer: PeerID, by key: PublicKey) throws(Violation) {
        guard keys != nil else { return }
        checkCount += 1
        guard let session = book.byPeer[peer], let owner = book.sessions[session]?.owner, owner != key else { return }
        throw Violation(.onlyWhoMay, "\(name(.key(key))) hears the inbox of session \(session)")
    }

    /// A message leaves the reducer. Effects go only to keys of their groups.
    mutating func check(_ message: Outbound) throws(Violation) {
        guard keys != nil else { return }
        var effects: [EffectID] = []
        let frame: PeerFrame
        switch message {
        case .inbox(_, let inbox): frame = inbox
        case .reply(_, let reply): frame = reply
        case .publish: return
        }
        switch frame.message {
        case .assignments(let part): effects = part.grants.map(\.effect)
        case .commands(_, let commands):
            effects = commands.compactMap { if case .start(let grant) = $0 { grant.effect } else { nil } }
        case .introduction, .joinAccepted, .acknowledgement, .tick, .outcomes, .busy, .statePart, .status, .ended,
            .refused, .update, .transitions, .serverHeartbeat, .answer, .delta, .unchanged, .stateHash, .goodbyeHeard,
            .refusalDetails, .redirect, .noLeader:
            return
        }
        guard !effects.isEmpty, let record = book.sessions[frame.session], let owner = record.owner else { return }
        checkCount += 1
        for effect in effects where Int(effect.feedback) < placements.count {
            let group = placements[Int(effect.feedback)]
            if groups[record.peer]?.contains(group) == true, Self.may(join: [group], keys?[owner]) { continue }
            throw Violation(
                .onlyWhoMay,
                "\(effect), of the group \"\(group)\", is given to session \(frame.session) of \(name(.key(owner)))")
        }
    }

    // MARK: Section 12

    private func verdict(on heard: Heard, by principal: Principal) -> Verdict {
        guard case .key(let publicKey) = principal, let key = keys?[publicKey] else {
            return .forbidden("\(name(principal)) is not admitted")
        }
        switch heard {
        case .message(let message): return verdict(on: message, by: key)
        case .batch(let batch): return verdict(on: batch, by: key)
        case .subscription(let topic): return verdict(on: topic, by: key)
        }
    }

    private func verdict(on message: ToReducer, by key: AllowedKey) -> Verdict {
        switch message {
        case .hello, .statusRequest: return .allowed
        case .administration: return demand([.admin], key)
        case .stateRequest: return demand([.observer], key)
        case .join(let joinRequest): return verdict(on: joinRequest, by: key)
        case .claim(let session, let epoch, _), .assignmentsRequest(let session, let epoch),
            .progress(let session, let epoch, _):
            return verdict(on: session, in: epoch, by: key)
        case .heartbeat(let heartbeat): return verdict(on: heartbeat.session, in: heartbeat.epoch, by: key)
        case .outcomesRequest(let session, _): return verdict(on: session, by: key)
        case .goodbye(let session, _, let history):
            return history == turn.history ? verdict(on: session, by: key) : .either
        }
    }

    private func verdict(on topic: Topic, by key: AllowedKey) -> Verdict {
        switch topic {
        case .tick: return .allowed
        case .updates, .transitions: return demand([.observer], key)
        case .inbox(_, let peer):
            guard !turn.mayHaveDecided(of: peer), let session = book.byPeer[peer], book.sessions[session]?.owner != nil
            else { return .either }
            return verdict(on: session, by: key)
        }
    }

    private func verdict(on batch: Batch, by key: AllowedKey) -> Verdict {
        for entry in batch.entries {
            let needed: Role = entry.effect == nil ? .sender : .worker
            if case .forbidden(let why) = demand([needed], key) { return .forbidden(why) }
        }
        return batch.history == turn.history ? verdict(on: batch.session, by: key) : .either
    }

    /// A message of an earlier epoch is late. It does not show that a key uses another key's session.
    private func verdict(on session: SessionID, in epoch: Epoch, by key: AllowedKey) -> Verdict {
        epoch == turn.epoch ? verdict(on: session, by: key) : .allowed
    }

    private func verdict(on session: SessionID, by key: AllowedKey) -> Verdict {
        // A new history ends all sessions.
        if turn.history != book.history || turn.ended.contains(session) { return .either }
        guard let record = book.sessions[session] else { return turn.openers.isEmpty ? .allowed : .either }
        // The session was opened without keys, or the record of its key was lost. It has no owner until a key joins in it.
        guard let owner = record.owner else {
            return turn.openers[record.peer] == nil ? .forbidden("session \(session) has no owner") : .either
        }
        return owner == key.publicKey ? .allowed : .forbidden("session \(session) is not of \(key.text)")
    }

    private func verdict(on joinRequest: JoinRequest, by key: AllowedKey) -> Verdict {
        if !Self.may(join: joinRequest.groups, key) {
            return .forbidden("\(key.text), may not join for the groups \(joinRequest.groups)")
        }
        let peer = joinRequest.peer
        if turn.history != book.history || turn.left.contains(peer) || turn.ended.contains(joinRequest.session) {
            return .either
        }
        if let opener = turn.openers[peer], book.byPeer[peer] == nil {
            if opener != key.publicKey { return .forbidden("the peer's session is not of \(key.text)") }
        }
        let present = book.byPeer[peer]
        if let present, let owner = book.sessions[present]?.owner, owner != key.publicKey {
            return .forbidden("session \(present) of the peer is not of \(key.text)")
        }
        if book.missing(joinRequest, openedAtMost: UInt64(turn.openers.count)) != nil {
            if book.sessions[joinRequest.session]?.owner == key.publicKey { return .either }
            return .forbidden("\(key.text), reports a loss of what was never its own")
        }
        return turn.openers.isEmpty ? .allowed : .either
    }

    /// - Parameter key: the key, or nil if it is not admitted.
    private static func may(join groups: [String], _ key: AllowedKey?) -> Bool {
        guard let key else { return false }
        if groups.isEmpty { return !key.roles.isDisjoint(with: [.worker, .observer, .sender]) }
        return key.roles.contains(.worker) && groups.allSatisfy(key.groups.contains)
    }

    private func demand(_ roles: Set<Role>, _ key: AllowedKey) -> Verdict {
        key.roles.isDisjoint(with: roles) ? .forbidden("no role allows it to \(key.text)") : .allowed
    }

    // MARK: What the turn may have changed

    private mutating func note(_ heard: Heard, _ principal: Principal) {
        guard case .message(let message) = heard, case .key(let key) = principal else { return }
        switch message {
        case .join(let joinRequest):
            turn.openers[joinRequest.peer] = key
            groups[joinRequest.peer] = joinRequest.groups
            if let session = book.byPeer[joinRequest.peer] { book.joined[session] = turn.epoch }
        case .goodbye(let session, let peer, _):
            turn.touch(session, of: peer)
        case .hello, .claim, .heartbeat, .assignmentsRequest, .outcomesRequest, .stateRequest, .statusRequest,
            .administration, .progress:
            break
        }
    }

    // MARK: For people

    private func name(_ principal: Principal) -> String {
        switch principal {
        case .local: "the reducer's own peer"
        case .unknown: "a connection without a key"
        case .address(let address): "\(address), without a key"
        case .key(let key): keys?[key]?.text ?? "the key \(key)"
        }
    }

    private static func name(_ heard: Heard) -> String { String("\(heard)".prefix(160)) }
}

/// What the present turn may have decided, although its records are not durable yet.
private struct PresentTurn: Sendable {
    /// A history and an epoch begin before their records are durable.
    var history = History.none
    var epoch = Epoch.none
    /// The sessions that may have ended, and their peers.
    private(set) var ended: Set<SessionID> = []
    private(set) var left: Set<PeerID> = []
    /// The owners of the sessions that may have been opened.
    var openers: [PeerID: PublicKey] = [:]

    mutating func touch(_ session: SessionID, of peer: PeerID) {
        ended.insert(session)
        left.insert(peer)
    }

    /// Whether the peer may have got a session, or lost it.
    func mayHaveDecided(of peer: PeerID) -> Bool { left.contains(peer) || openers[peer] != nil }
}
