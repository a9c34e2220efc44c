internal import LoopCore

/// A change of one field of a state, to be sent to the loop.
struct Mutation<State> {
    /// The field, by which a remote loop finds its registered name; nil where no key path leads to it.
    let keyPath: PartialKeyPath<State>?
    let value: any Sendable
    let apply: @Sendable (inout State) -> Void

    init(keyPath: PartialKeyPath<State>?, value: any Sendable, apply: @escaping @Sendable (inout State) -> Void) {
        self.keyPath = keyPath
        self.value = value
        self.apply = apply
    }

    init<Value: Sendable>(_ keyPath: any WritableKeyPath<State, Value> & Sendable, _ value: Value) {
        self.init(keyPath: keyPath, value: value) { $0[keyPath: keyPath] = value }
    }
}

/// Sends events and changes of fields from a view to its loop. It does not keep the loop alive.
struct Sender<State: Sendable, Event: Sendable>: Sendable {
    /// The state that what is sent meets; nil: the loop or the part has gone.
    let read: @Sendable () -> State?
    let send: @Sendable (Event) -> Void
    let mutate: @Sendable (Mutation<State>) -> Void

    /// The way from a part of the state.
    func scoped<Part, PartEvent>(
        to keyPath: any WritableKeyPath<State, Part> & Sendable, event embed: @escaping @Sendable (PartEvent) -> Event
    ) -> Sender<Part, PartEvent> {
        Sender<Part, PartEvent>(
            read: { [read] in read()?[keyPath: keyPath] }, send: { [send] in send(embed($0)) },
            mutate: { [mutate] part in
                let whole = part.keyPath.flatMap {
                    (keyPath as AnyKeyPath).appending(path: $0) as? PartialKeyPath<State>
                }
                let apply = part.apply
                mutate(Mutation(keyPath: whole, value: part.value) { apply(&$0[keyPath: keyPath]) })
            })
    }

    /// The way from a part that may be absent; where it is, a change does nothing.
    func unwrapped<Wrapped>() -> Sender<Wrapped, Event> where State == Wrapped? {
        Sender<Wrapped, Event>(
            read: { [read] in read() ?? nil }, send: send,
            mutate: { [mutate] wrapped in
                let apply = wrapped.apply
                mutate(
                    Mutation(keyPath: nil, value: wrapped.value) { state in
                        guard var value = state.take() else { return }
                        apply(&value)
                        state = value
                    })
            })
    }

    /// The way from one case; where the state is in another, a change does nothing.
    func scoped<Part, PartEvent>(
        to path: CasePath<State, Part>, event embed: @escaping @Sendable (PartEvent) -> Event
    ) -> Sender<Part, PartEvent> {
        Sender<Part, PartEvent>(
            read: { [read] in read().flatMap(path.extract) }, send: { [send] in send(embed($0)) },
            mutate: { [mutate] part in
                let apply = part.apply
                mutate(
                    Mutation(keyPath: nil, value: part.value) { state in
                        guard var value = path.extract(state) else { return }
                        apply(&value)
                        state = path.embed(value)
                    })
            })
    }

    /// The way from what can be read and not written: events only.
    func reading<Part, PartEvent>(
        _ part: @escaping @Sendable (State) -> Part?, event embed: @escaping @Sendable (PartEvent) -> Event
    ) -> Sender<Part, PartEvent> {
        Sender<Part, PartEvent>(
            read: { [read] in read().flatMap(part) }, send: { [send] in send(embed($0)) }, mutate: { _ in })
    }

    /// The same way, closed while the part is away.
    func whilePresent() -> Sender {
        Sender(
            read: read, send: { [read, send] in if read() != nil { send($0) } },
            mutate: { [read, mutate] in if read() != nil { mutate($0) } })
    }
}
