public import LoopCore

/// How a remote store turns changes of fields into events.
public struct FieldEvents<State: Sendable, Event: Sendable>: Sendable {
    let event: @Sendable (Mutation<State>) -> Event?

    /// The registered fields of a definition, or none if it registers none.
    public init<Definition: LoopDefinition>(
        _ definition: Definition.Type
    ) where Definition.State == State, Definition.Event == Event {
        let registered = (definition as? any RegisteredFields.Type).flatMap { Self.events(of: $0) as? Self }
        self = registered ?? .none
    }

    /// Events for no field: nothing can be changed.
    public static var none: FieldEvents { FieldEvents { _ in nil } }

    private init(event: @escaping @Sendable (Mutation<State>) -> Event?) { self.event = event }

    private static func events<Definition: RegisteredFields>(of definition: Definition.Type) -> any Sendable {
        let fields = Definition.fields
        return FieldEvents<Definition.State, Definition.Event> { mutation in
            mutation.keyPath.flatMap { fields.change(at: $0, to: mutation.value) }.map(Definition.set)
        }
    }
}
