extension Feedback {
    /// Binds the loop to its outside, with bindings made of the states: subscriptions that follow them, and sequences of
    /// events that may be derived from them. All begin when the feedback is attached and are cancelled when it ends.
    ///
    ///     .bind("player") { states in
    ///         Bindings(
    ///             subscriptions: [{ for await state in states { await player.show(state.title) } }],
    ///             events: [player.taps.map { .play }, states.filter(\.hasEnded).map { _ in .next }])
    ///     }
    ///
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - bindings: called each time the feedback is attached.
    public static func bind(
        _ name: String, _ bindings: @escaping @Sendable (BoundStates<State>) -> Bindings<State, Event>
    ) -> Feedback {
        .bind(name) {
            let states = BoundStates<State>()
            let bindings = bindings(states)
            let telling: @Sendable (FollowedStates<State>) async -> Void = { followed in
                for await state in followed { states.tell(state) }
                states.finish()
            }
            return Bindings(subscriptions: bindings.subscriptions + [telling], events: bindings.events)
        }
    }

    /// The form of `bind(_:_:)` without a name.
    @inlinable
    public static func bind(
        _ bindings: @escaping @Sendable (BoundStates<State>) -> Bindings<State, Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .bind(place(file, line, column), bindings)
    }
}

extension Bindings {
    /// Bindings made of the states that `bind` provides.
    /// - Parameters:
    ///   - subscriptions: functions that each run until they return.
    ///   - events: sequences whose elements the loop gets.
    @_disfavoredOverload
    public init(
        subscriptions: [@Sendable () async -> Void] = [],
        events: [any AsyncSequence<Event, Never> & Sendable] = []
    ) {
        // These subscriptions get their states from elsewhere, so they must have no stream of their own, which would fill up.
        let following: [@Sendable (Send<Event>) async -> Void] = subscriptions.map { subscription in
            { @Sendable _ in await subscription() }
        }
        let sending: [@Sendable (Send<Event>) async -> Void] = events.map { events in
            { @Sendable send in
                for await event in events {
                    do { try await send(event) } catch { return }
                }
            }
        }
        self.init(events: following + sending)
    }
}
