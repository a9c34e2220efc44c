/// A role of a key's owner in a loop. A key may have several roles, and may do what at least one of them allows.
package enum Role: String, CaseIterable, Hashable, Sendable, Codable {
    /// Runs effects of the groups in its key.
    case worker
    /// Follows the state.
    case observer
    /// Sends events that belong to no effect.
    case sender
    /// Steers the loop, as `loopctl` does.
    case admin
    /// Is the reducer itself. Peers know it by its public key, and it is not among the keys that it admits.
    case reducer

    /// Reads a role.
    /// - Throws: ``UnknownRole``, which lists the roles.
    package init(parsing text: some StringProtocol) throws(UnknownRole) {
        guard let role = Role(rawValue: String(text)) else { throw UnknownRole(String(text)) }
        self = role
    }

    /// Reads a role from a document.
    /// - Throws: an error that lists the roles.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do throws(UnknownRole) {
            try self.init(parsing: text)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: error.description)
        }
    }

    /// Whether a key of this role may do something.
    package func allows(_ verb: Verb) -> Bool {
        switch verb {
        case .readStatus: self != .reducer
        case .join: self == .worker || self == .observer || self == .sender
        case .followUpdates, .fetchStates, .followTransitions: self == .observer
        case .sendEvents, .explainEvents: self == .sender
        case .runEffects: self == .worker
        case .readSchema: self == .worker || self == .admin
        case .readHistory, .retryEffects, .quarantine, .schedules, .trim, .stepDown: self == .admin
        }
    }
}

/// A text that is not the name of a role.
package struct UnknownRole: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text as it was read.
    package let text: String

    init(_ text: String) { self.text = text }

    /// What is wrong, with the list of roles. Characters that cannot be printed are escaped.
    package var description: String {
        let roles = Role.allCases.map(\.rawValue)
        return "'\(PrintedText.of(text))' is no role; a role is \(roles.dropLast().joined(separator: ", ")) or "
            + (roles.last ?? "")
    }
}
