package import LoopCore

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
    /// The fields that views can change.
    package var fields: FieldEvents<State, Event>

    /// Creates a source from its parts.
    /// - Parameters:
    /// - updates: see ``updates``.
    ///   - send: hands one event over; throws `SendRefusal` if the event is not accepted.
    /// - fields: the fields that views can change; none by default.
    package init(
        updates: AsyncStream<Update>, send: @escaping @Sendable (Event) async throws(SendRefusal) -> Void,
        fields: FieldEvents<State, Event> = .none
    ) {
        self.updates = updates
        self.send = send
        self.fields = fields
    }
}

/// How a remote store turns changes of fields into events.
package struct FieldEvents<State: Sendable, Event: Sendable>: Sendable {
    let event: @Sendable (Mutation<State>) -> Event?

    /// The registered fields of a definition, or none if it registers none.
    package init<Definition: LoopDefinition>(
        _ definition: Definition.Type
    ) where Definition.State == State, Definition.Event == Event {
        let registered = (definition as? any RegisteredFields.Type).flatMap { Self.events(of: $0) as? Self }
        self = registered ?? .none
    }

    /// Events for no field: nothing can be changed.
    package static var none: FieldEvents { FieldEvents { _ in nil } }

    private init(event: @escaping @Sendable (Mutation<State>) -> Event?) { self.event = event }

    private static func events<Definition: RegisteredFields>(of definition: Definition.Type) -> any Sendable {
        let fields = Definition.fields
        return FieldEvents<Definition.State, Definition.Event> { mutation in
            mutation.keyPath.flatMap { fields.change(at: $0, to: mutation.value) }.map(Definition.set)
        }
    }
}
