public import LoopCore

/// How up to date a store is.
public enum StoreConnection: Equatable, Sendable {
    /// The loop is in this process.
    case local
    /// No state has arrived yet, so a placeholder is shown.
    case connecting
    /// The state at this seq is the newest that is known to exist.
    case live(Seq)
    /// A newer state than the one at this seq exists, or may exist because the reducer is silent.
    case behind(Seq)
    /// The loop has ended. `text` is its outcome, or why it is out of reach.
    case ended(text: String)

    /// Whether the state that is shown is known to be current.
    public var isCurrent: Bool {
        switch self {
        case .local, .live: true
        case .connecting, .behind, .ended: false
        }
    }
}

extension StoreConnection: CustomStringConvertible {
    /// A text for people, such as `live at 17`.
    public var description: String {
        switch self {
        case .local: "in this process"
        case .connecting: "connecting"
        case .live(let seq): "live at \(seq)"
        case .behind(let seq): "behind, at \(seq)"
        case .ended(let text): text.isEmpty ? "ended" : "ended: \(text)"
        }
    }
}

/// Why the loop did not apply an event or a change of a view.
public enum StoreProblem: Equatable, Sendable, CustomStringConvertible {
    /// The loop refused an event.
    case refused(SendRefusal)
    /// A view changed a field that the definition does not register. `field` is its key path, if it has one.
    case unregistered(field: String)

    /// The problem with its reason for people, and with a remedy if there is one.
    public var description: String {
        switch self {
        case .refused(let refusal): refusal.description
        case .unregistered(let field):
            "\(field) cannot be changed from another process; register it in the definition's fields, or send an event"
        }
    }
}
