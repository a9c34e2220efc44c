public import LoopCore
internal import LoopLock

// Stores of parts that are not always present, like the scopes that `Loop` has for them.

extension Store {
    /// The store of a part that is not always present, or nil while it is absent.
    ///
    /// When the part goes, this store shows its last value, and events and changes through it do nothing. The effects of the part
    /// are those of the feedbacks that were pulled back to it. They are cancelled at that moment, wherever they run.
    /// - Parameters:
    ///   - value: the part.
    ///   - event: turns an event of the part into one of the whole.
    public func scoped<Part, PartEvent>(
        toOptional value: any WritableKeyPath<State, Part?> & Sendable,
        event: @escaping @Sendable (PartEvent) -> Event
    ) -> Store<Part, PartEvent>? {
        present(sender.scoped(to: value, event: event).unwrapped().whilePresent()) { $0[keyPath: value] }
    }

    /// The store of one case of the state, or nil while the state is in another. As with an optional part, events and changes do
    /// nothing after the state has left the case.
    public func scoped<Part, PartEvent>(
        to value: CasePath<State, Part>, event: CasePath<Event, PartEvent>
    ) -> Store<Part, PartEvent>? {
        present(sender.scoped(to: value, event: event.embed).whilePresent(), value.extract)
    }

    private func present<Part, PartEvent>(
        _ sender: Sender<Part, PartEvent>, _ part: @escaping @Sendable (State) -> Part?
    ) -> Store<Part, PartEvent>? {
        guard let now = part(state) else { return nil }
        let last = Locked(now)
        return derived(
            read: {
                guard let part = part(self.state) else { return last.withLock { $0 } }
                last.withLock { $0 = part }
                return part
            },
            subscribe: States<Part>.subscription(subscribe, part), sender: sender)
    }
}
