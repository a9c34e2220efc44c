public import LoopCore
internal import LoopLock

// Stores of a part that is not always there, as `Loop` has scopes of it.

extension Store {
    /// The store of a part that is not always there; nil while it is not.
    ///
    /// When the part goes, this store shows its last value, and what is sent through it does nothing. The effects of the
    /// part are those of the feedbacks that were pulled back to it, which are cancelled at that moment, wherever they run.
    /// - Parameters:
    ///   - value: the part.
    ///   - event: makes the whole's event of the part's.
    public func scoped<Part, PartEvent>(
        toOptional value: any WritableKeyPath<State, Part?> & Sendable,
        event: @escaping @Sendable (PartEvent) -> Event
    ) -> Store<Part, PartEvent>? {
        present(sender.scoped(to: value, event: event).unwrapped().whilePresent()) { $0[keyPath: value] }
    }

    /// The store of one case of the state; nil while it is another. As with an optional part, leaving the case ends what
    /// can be sent through it.
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
        return Store<Part, PartEvent>(
            read: {
                guard let part = part(self.state) else { return last.withLock { $0 } }
                last.withLock { $0 = part }
                return part
            },
            subscribe: States<Part>.subscription(subscribe, part), connection: { self.connection },
            problem: { self.problem }, forget: { self.forgetProblem() }, sender: sender,
            owned: [self])
    }
}
