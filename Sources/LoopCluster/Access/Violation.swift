import LoopKeys
import LoopWire

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
