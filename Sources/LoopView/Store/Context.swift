/// The input of a view: an immutable snapshot of a state, and a way to send events.
///
/// Members of the state are members of the context. Sending does not change a context; the next context shows the result.
/// A context does not keep its loop alive. After the loop's end, sending does nothing.
///
/// ```swift
/// Widget(store) { context in
///     Text("\(context.count) so far")
///     Button("One more", action: context.action(for: .increment))
/// }
/// ```
@dynamicMemberLookup
public struct Context<State: Sendable, Event: Sendable>: Sendable {
    /// The state of which this context is the snapshot.
    public let state: State
    let sender: Sender<State, Event>

    init(state: State, sender: Sender<State, Event>) {
        self.state = state
        self.sender = sender
    }

    /// A context without a loop, for previews and tests. Changes of fields through it do nothing.
    /// - Parameters:
    ///   - state: the state to show.
    ///   - send: receives the events.
    public init(state: State, send: @escaping @Sendable (Event) -> Void = { _ in }) {
        self.init(state: state, sender: Sender(read: { state }, send: send, mutate: { _ in }))
    }

    /// A member of the snapshot.
    public subscript<Value>(dynamicMember keyPath: KeyPath<State, Value>) -> Value { state[keyPath: keyPath] }

    /// Sends an event to the loop.
    public func send(event: Event) { sender.send(event) }

    /// The context of a part of the state.
    /// - Parameters:
    ///   - value: the part.
    ///   - event: turns an event of the part into one of the whole.
    public func view<Part, PartEvent>(
        value: any WritableKeyPath<State, Part> & Sendable, event: @escaping @Sendable (PartEvent) -> Event
    ) -> Context<Part, PartEvent> {
        Context<Part, PartEvent>(state: state[keyPath: value], sender: sender.scoped(to: value, event: event))
    }

    /// The context of a computed part of the state. Only events can change such a part.
    @_disfavoredOverload
    public func view<Part, PartEvent>(
        value: any KeyPath<State, Part> & Sendable, event: @escaping @Sendable (PartEvent) -> Event
    ) -> Context<Part, PartEvent> {
        Context<Part, PartEvent>(
            state: state[keyPath: value], sender: sender.reading({ $0[keyPath: value] }, event: event))
    }

    /// A binding that reads the snapshot. Writing sends the event that `event` makes from the new value.
    public func binding<Value: Sendable>(
        for keyPath: KeyPath<State, Value>, event: @escaping @Sendable (Value) -> Event
    ) -> Binding<Value> {
        let value = state[keyPath: keyPath]
        return Binding(get: { value }, set: { [sender] in sender.send(event($0)) })
    }

    /// A binding that reads the snapshot. Writing sends `event`, whatever the new value is.
    public func binding<Value: Sendable>(for keyPath: KeyPath<State, Value>, event: Event) -> Binding<Value> {
        binding(for: keyPath) { _ in event }
    }

    /// A binding that shows a value made from the snapshot, such as a property of a list's entry. Writing sends the event that
    /// `event` makes from the new value.
    public func binding<Value: Sendable>(
        of value: Value, event: @escaping @Sendable (Value) -> Event
    ) -> Binding<Value> {
        Binding(get: { value }, set: { [sender] in sender.send(event($0)) })
    }

    /// A binding that shows a value made from the snapshot. Writing sends `event`, whatever the new value is.
    public func binding<Value: Sendable>(of value: Value, event: Event) -> Binding<Value> {
        binding(of: value) { _ in event }
    }

    /// A binding that reads the snapshot. Writing changes the field through the loop's queue, past the reducer. Over a remote loop
    /// nothing changes: use `binding(for:event:)`.
    public func binding<Value: Sendable>(
        for keyPath: any WritableKeyPath<State, Value> & Sendable
    ) -> Binding<Value> {
        let value = state[keyPath: keyPath]
        return Binding(get: { value }, set: { [sender] new in sender.mutate { $0[keyPath: keyPath] = new } })
    }

    /// A closure that sends an event.
    public func action(for event: Event) -> @Sendable () -> Void { { [sender] in sender.send(event) } }
}

extension Context {
    /// The context of an optional state's value, or nil if there is none.
    public func unwrapped<Wrapped>() -> Context<Wrapped, Event>? where State == Wrapped? {
        state.map { Context<Wrapped, Event>(state: $0, sender: sender.unwrapped()) }
    }
}
