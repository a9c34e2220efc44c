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
    /// A view changed a field of a loop that runs elsewhere, where only events change the state.
    case changedWithoutEvent

    /// The problem with its reason for people, and with a remedy if there is one.
    public var description: String {
        switch self {
        case .refused(let refusal): refusal.description
        case .changedWithoutEvent:
            "only events change a loop that runs elsewhere; name an event: binding(for:event:)"
        }
    }
}

/// The access that a store needs to a loop that runs elsewhere.
package struct RemoteSource<State: Sendable, Event: Sendable>: Sendable {
    /// What is known about the loop.
    package struct Update: Sendable {
        /// The newest state that has arrived, or nil before the first.
        package var state: State?
        /// How up to date the state is.
        package var connection: StoreConnection

        /// Creates an update from its parts.
        package init(state: State?, connection: StoreConnection) {
            self.state = state
            self.connection = connection
        }
    }

    /// An update whenever something changes, until the loop ends. The newest suffices, so the stream may drop older ones.
    package var updates: AsyncStream<Update>
    /// Hands one event over.
    package var send: @Sendable (Event) async throws(SendRefusal) -> Void

    /// Creates a source from its parts.
    /// - Parameters:
    /// - updates: see ``updates``.
    ///   - send: hands one event over; throws `SendRefusal` if the event is not accepted.
    package init(
        updates: AsyncStream<Update>, send: @escaping @Sendable (Event) async throws(SendRefusal) -> Void
    ) {
        self.updates = updates
        self.send = send
    }
}
