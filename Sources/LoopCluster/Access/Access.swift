package import LoopKeys
import LoopWire

/// The check of what each principal may do. Every message is judged by the key of its connection, and never by what it claims.
/// (Protocol, section 12.)
///
/// A reducer without keys allows every principal everything.
struct Access: Sendable {
    /// The keys that are admitted now, or nil if the reducer has no keys.
    private(set) var keys: AllowedKeys?
    /// The violations that were written into the log. Each is written once.
    private var written: Set<Violation> = []

    private static var writtenMax: Int { 256 }

    /// - Parameter isGuarded: whether the reducer has keys. Until the first keys are known, none is admitted.
    init(isGuarded: Bool) { keys = isGuarded ? AllowedKeys.none : nil }

    /// Replaces the admitted keys. A reducer without keys stays without them.
    mutating func admit(_ new: AllowedKeys) {
        if keys != nil { keys = new }
        written = []
    }

    /// Why a principal may not do something, or nil if it may.
    func violation(of verb: Verb, by principal: Principal, _ context: TurnContext) -> Violation? {
        switch identify(principal) {
        case .everything: nil
        case .nothing(let violation): violation
        case .key(let key): key.allows(verb) || context.breaks(.rolesAreChecked) ? nil : .role(key, verb)
        }
    }

    /// Why a principal may not join with this request, or nil if it may.
    func violation(of joinRequest: JoinRequest, by principal: Principal, _ context: TurnContext) -> Violation? {
        let verb = joinRequest.groups.isEmpty ? Verb.join : .runEffects
        if let violation = violation(of: verb, by: principal, context) { return violation }
        guard let key = key(principal), !context.breaks(.groupsAreChecked) else { return nil }
        return joinRequest.groups.first { !key.mayServe(group: $0) }.map { .group(key, $0) }
    }

    /// Why a principal may not speak for a session, or nil if it may. Also nil if the session does not exist.
    func violation(
        of session: SessionID, by principal: Principal, _ journaled: JournaledState, _ context: TurnContext
    ) -> Violation? {
        switch identify(principal) {
        case .everything: return nil
        case .nothing(let violation): return violation
        case .key(let key):
            guard let record = journaled.sessions[session], record.owner != key.publicKey,
                !context.breaks(.sessionsHaveOwners)
            else { return nil }
            return .session(key, session)
        }
    }

    /// Why a principal that may speak for a batch's session may not send its entries, or nil if it may.
    func violation(of batch: Batch, by principal: Principal, _ context: TurnContext) -> Violation? {
        guard let key = key(principal), !context.breaks(.rolesAreChecked) else { return nil }
        let (sends, runs) = (key.allows(.sendEvents), key.allows(.runEffects))
        if sends, runs { return nil }
        for index in batch.entries.indices {
            let hasEffect = batch.entries.head(at: index).hasEffect
            if hasEffect, !runs { return .role(key, .runEffects) }
            if !hasEffect, !sends { return .role(key, .sendEvents) }
        }
        return nil
    }

    /// Whether the owner of a key may continue a session that serves these groups.
    func mayGoOn(_ owner: PublicKey?, groups: [String]) -> Bool {
        guard let keys, let owner else { return true }
        guard let key = keys[owner] else { return false }
        return groups.isEmpty ? key.allows(.join) : groups.allSatisfy(key.mayServe)
    }

    /// The admitted key of a principal, or nil if it has none or the reducer has no keys.
    func key(_ principal: Principal) -> AllowedKey? {
        if case .key(let key) = identify(principal) { key } else { nil }
    }

    /// The owner of a session that a principal opens, or nil if it has no admitted key.
    func owner(_ principal: Principal) -> PublicKey? { key(principal)?.publicKey }

    /// The rights that a principal's connection gives it.
    private enum Identity {
        case everything
        case nothing(Violation)
        case key(AllowedKey)
    }

    private func identify(_ principal: Principal) -> Identity {
        switch principal {
        case .local: return .everything
        case .unknown, .address: return keys == nil ? .everything : .nothing(.notAdmitted(nil))
        case .key(let key):
            guard let keys else { return .everything }
            return keys[key].map { .key($0) } ?? .nothing(.notAdmitted(key))
        }
    }

    /// The line for the log, or nil if the violation was written before, or if too many were.
    mutating func lineToWrite(_ violation: Violation) -> String? {
        guard written.count < Self.writtenMax, written.insert(violation).inserted else { return nil }
        return violation.line
    }
}

/// The reason why a principal may not do what it asks.
enum Violation: Hashable, Sendable {
    /// Its key is not admitted, or is not admitted any more. It is nil if the principal has shown none.
    case notAdmitted(PublicKey?)
    /// No role of its key allows the action.
    case role(AllowedKey, Verb)
    /// It asks for a group that its key does not name, or its key has no worker role.
    case group(AllowedKey, String)
    /// The session belongs to another key.
    case session(AllowedKey, SessionID)
    /// It reports missing records, but the journal does not show that the session it names was its own.
    case loss(AllowedKey, SessionID)

    /// The refusal that the principal gets.
    var refused: Refused {
        switch self {
        case .notAdmitted(let key): Refused(.key, reducer: "", peer: key?.z85 ?? "(none)")
        case .role(let key, let verb):
            Refused(
                .role, reducer: key.text, peer: "\(verb.text); its certificate must have the role \(Self.roles(verb))")
        case .group(let key, let group):
            Refused(
                .role, reducer: key.text,
                peer: "run effects of the group \"\(group)\"; its certificate must name that group, and the role worker"
            )
        case .session(let key, let session): Refused(.session, reducer: "\"\(key.name)\"", peer: "\(session)")
        case .loss(let key, let session):
            Refused(.session, reducer: "\"\(key.name)\"", peer: "\(session), of which records are said to be missing,")
        }
    }

    /// The names of the roles that allow a verb, for people.
    private static func roles(_ verb: Verb) -> String {
        Role.allCases.filter { $0.allows(verb) }.map(\.rawValue).joined(separator: " or ")
    }

    /// The line for the operator's log.
    var line: String {
        switch self {
        case .notAdmitted(let key):
            "refused a message of a key that is not admitted: \(key?.z85 ?? "it has shown none")"
        case .role(let key, let verb): "refused: the key \(key.text), may not \(verb.text)"
        case .group(let key, let group): "refused: the key \(key.text), may not run effects of the group \"\(group)\""
        case .session(let key, let session): "refused: the key \(key.text), spoke for session \(session) of another key"
        case .loss(let key, let session):
            "refused: the key \(key.text), says that records of session \(session) are missing, and this journal does not"
                + " show that the session was its own; if the journal was restored from a backup, start that peer again"
        }
    }
}

/// The identity of a message's sender, as its connection proves it. What the message claims does not count.
package enum Principal: Hashable, Sendable {
    /// The peer of the reducer's own process.
    case local
    /// A connection without a key. Nothing is known of its peer.
    case unknown
    /// A connection without a key, from another machine: its IPv4 address, or the first 64 bits of its IPv6 address.
    case address(String)
    /// The owner of a key that was admitted when the connection was made. It may have been removed since.
    case key(PublicKey)
}
