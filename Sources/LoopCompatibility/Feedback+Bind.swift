public import LoopCore

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
    ///   - file: the file of the call, for the name.
    ///   - line: the line of the call, for the name.
    ///   - column: the column of the call, for the name.
    public static func bind(
        _ name: String? = nil, _ bindings: @escaping @Sendable (BoundStates<State>) -> Bindings<State, Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .bind(name ?? place(file, line, column)) {
            let states = BoundStates<State>()
            let bindings = bindings(states)
            let telling: @Sendable (FollowedStates<State>) async -> Void = { followed in
                for await state in followed { states.tell(state) }
                states.finish()
            }
            return Bindings(subscriptions: bindings.subscriptions + [telling], events: bindings.events)
        }
    }

    /// Binds the loop to its outside: each subscription follows the states, each sequence brings events. All begin when the
    /// feedback is attached and are cancelled when it ends.
    public static func bind(
        _ name: String? = nil, _ bindings: @escaping @Sendable () -> Bindings<State, Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .custom(name ?? place(file, line, column)) { transitions, send in
            let bindings = bindings()
            await withTaskGroup(of: Void.self) { group in
                var streams: [AsyncStream<State>.Continuation] = []
                for subscription in bindings.subscriptions {
                    let (stream, continuation) = AsyncStream<State>.makeStream()
                    streams.append(continuation)
                    group.addTask { await subscription(FollowedStates(stream)) }
                }
                for events in bindings.events { group.addTask { await events(send) } }
                for await (state, _) in transitions { for stream in streams { stream.yield(state) } }
                for stream in streams { stream.finish() }
                group.cancelAll()
            }
        }
    }
}

/// The subscriptions and events that a `bind` feedback connects to the loop.
public struct Bindings<State: Sendable, Event: Sendable>: Sendable {
    let subscriptions: [@Sendable (FollowedStates<State>) async -> Void]
    let events: [@Sendable (Send<Event>) async -> Void]

    /// - Parameters:
    ///   - subscriptions: functions that each get the states, beginning with the present one.
    ///   - events: functions that each send events until they return.
    public init(
        subscriptions: [@Sendable (FollowedStates<State>) async -> Void] = [],
        events: [@Sendable (Send<Event>) async -> Void] = []
    ) {
        self.subscriptions = subscriptions
        self.events = events
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
