public import LoopCollections

// Timers: feedbacks that whoever owns the state fulfils itself. A timer sends one event when the clock has reached its time.
// In a cluster that is one record of the reducer: no worker, no capacity, exactly once, also across restarts.

extension Feedback {
    /// Sets one timer for each key of a dictionary. When the clock has reached the key's time, it sends the event, once.
    ///
    /// A key that vanishes takes its timer with it. A key that gets another time gets another timer: the old one never
    /// fires, and the new one does, also where the old one has fired. A time that has passed already is due at once. Timers
    /// that are due together fire in the order of their times.
    ///
    /// An event that changes the dictionary costs a look at all of it. For many timers take a `TrackedDictionary`.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - times: when each key is due.
    ///   - event: what the timer of a key sends.
    public static func timer<Key: Hashable & Codable & Sendable>(
        _ name: String, at times: @escaping @Sendable (State) -> [Key: WallTime],
        event: @escaping @Sendable (Key) -> Event
    ) -> Feedback {
        Feedback(name: name, timers: TimerSource(times), event: event)
    }

    /// The same of a tracked dictionary of times: an event costs what it changes of them, whatever their number.
    public static func timer<Key: Hashable & Codable & Sendable>(
        _ name: String, at times: @escaping @Sendable (State) -> TrackedDictionary<Key, WallTime>,
        event: @escaping @Sendable (Key) -> Event
    ) -> Feedback {
        Feedback(name: name, timers: TimerSource(times, { $0 }), event: event)
    }

    /// Sets one timer for each entry of a tracked dictionary that has a time. An event costs what it changes of them,
    /// whatever their number.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - entries: the entries, such as all orders.
    ///   - time: when an entry is due; nil: never. A function of the entry alone.
    ///   - event: what the timer of a key sends.
    public static func timer<Key: Hashable & Codable & Sendable, Entry: Sendable>(
        _ name: String, of entries: @escaping @Sendable (State) -> TrackedDictionary<Key, Entry>,
        at time: @escaping @Sendable (Entry) -> WallTime?, event: @escaping @Sendable (Key) -> Event
    ) -> Feedback {
        Feedback(name: name, timers: TimerSource(entries, time), event: event)
    }

    /// Sets one timer, while the state has a time for it.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - time: when it is due; nil: never.
    ///   - event: what it sends.
    public static func timer(
        _ name: String, at time: @escaping @Sendable (State) -> WallTime?, event: @escaping @Sendable () -> Event
    ) -> Feedback {
        Feedback(name: name, timers: TimerSource<State, SoleKey>(time), event: { (_: SoleKey) in event() })
    }

    private init<Key: Hashable & Codable & Sendable>(
        name: String, timers source: TimerSource<State, Key>, event: @escaping @Sendable (Key) -> Event
    ) {
        self.init(
            name: name, placement: .reducer, policy: EffectPolicy(),
            query: { TimerQuery<State, Event, Key>(source) },
            // Fulfilled by the owner of the state.
            effect: { (_: TimerRequest<Key>, _) in .none })
        timer = FeedbackTimer(name, of: Key.self, event: event)
    }
}
