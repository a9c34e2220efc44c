public import LoopCore
internal import LoopCollections

extension Store {
    /// The store of a part of the state. It projects in both directions, has no queue of its own, and keeps this store alive.
    /// - Parameters:
    ///   - value: the part.
    ///   - event: turns an event of the part into one of the whole.
    public func scoped<Part, PartEvent>(
        to value: any WritableKeyPath<State, Part> & Sendable, event: @escaping @Sendable (PartEvent) -> Event
    ) -> Store<Part, PartEvent> {
        projected(sender: sender.scoped(to: value, event: event)) { $0[keyPath: value] }
    }

    /// The store of a computed part. Only events can change such a part.
    @_disfavoredOverload
    public func scoped<Part, PartEvent>(
        to value: any KeyPath<State, Part> & Sendable, event: @escaping @Sendable (PartEvent) -> Event
    ) -> Store<Part, PartEvent> {
        projected(sender: sender.reading({ $0[keyPath: value] }, event: event)) { $0[keyPath: value] }
    }

    /// A store of this state that sends the events of a part.
    public func scoped<PartEvent>(event: @escaping @Sendable (PartEvent) -> Event) -> Store<State, PartEvent> {
        projected(
            sender: Sender(
                read: sender.read, send: { [sender] in sender.send(event($0)) }, mutate: sender.mutate), { $0 })
    }

    /// A store of this state that cannot send events or change fields.
    public func ignoringInput() -> Store<State, Never> {
        projected(sender: Sender(read: sender.read, send: { _ in }, mutate: { _ in }), { $0 })
    }

    /// A store of this state that notifies of a change only if `areEqual` is false.
    public func removingDuplicates(by areEqual: @escaping @Sendable (State, State) -> Bool) -> Store {
        let feed = StoreFeed(state)
        let value = feed.value
        let distinct = derived(
            read: { value.withLock { $0 } }, subscribe: States.subscription(subscribe, removingDuplicatesBy: areEqual),
            sender: sender, owning: [feed])
        let read: @Sendable () -> State? = { [weak self] in self?.state }
        feed.follow(by: distinct) { store in
            var source = Tracked(read)
            var state = source.read()
            // Only this task writes the value, so nothing changes between the comparison and the write.
            while let new = state {
                if !areEqual(value.withLock { $0 }, new) {
                    value.withLock { $0 = new }
                    store()?.tellState()
                }
                guard await source.changed() else { return }
                state = source.read()
            }
        }
        return distinct
    }

    private func projected<Part, PartEvent>(
        sender: Sender<Part, PartEvent>, _ part: @escaping @Sendable (State) -> Part
    ) -> Store<Part, PartEvent> {
        derived(
            read: { part(self.state) }, subscribe: States<Part>.subscription(subscribe, part), sender: sender)
    }

    /// A store that is made of this one and keeps it alive. Reading goes through this store, so that a reader of the other is
    /// notified of this store's changes.
    func derived<Part, PartEvent>(
        read: @escaping @Sendable () -> Part, subscribe: @escaping States<Part>.Subscribe,
        sender: Sender<Part, PartEvent>, owning more: [any AnyObject & Sendable] = []
    ) -> Store<Part, PartEvent> {
        Store<Part, PartEvent>(
            read: read, subscribe: subscribe, connection: { self.connection }, problem: { self.problem },
            forget: { self.forgetProblem() }, sender: sender, owned: [self] + more)
    }
}

extension Store where State: Equatable {
    /// A store of this state that does not notify of equal states.
    public func removingDuplicates() -> Store { removingDuplicates(by: ==) }
}

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
