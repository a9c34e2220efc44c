public import LoopCollections

// Timers: feedbacks that the owner of the state fulfils itself. A timer sends one event when the clock has reached its
// time. In a cluster that is one record of the reducer: no worker, no capacity, exactly once, even after restarts.

extension Feedback {
    /// Sets one timer for each key of a dictionary. When the clock has reached the key's time, it sends the event, once.
    ///
    /// If a key vanishes, its timer is cancelled. If a key gets another time, the old timer never fires; the new one does,
    /// even if the old one has already fired. A time that has passed is due at once. Timers that are due together fire in
    /// the order of their times.
    ///
    /// The cost of an event that changes the dictionary is proportional to its size. Use a `TrackedDictionary` for many timers.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop. Without one it is named for the place
    ///     of the call in the source, which suffices for a loop in one process.
    ///   - times: the due time of each key.
    ///   - event: the event that the timer of a key sends.
    ///   - file: the file of the call, for the name.
    ///   - line: the line of the call, for the name.
    ///   - column: the column of the call, for the name.
    public static func timer<Key: Hashable & Codable & Sendable>(
        _ name: String? = nil, at times: @escaping @Sendable (State) -> [Key: WallTime],
        event: @escaping @Sendable (Key) -> Event,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .timer(name ?? place(file, line, column), KeyedSource(times), event: event)
    }

    /// The form for a tracked dictionary of times: the cost of an event is proportional to the times that it changes.
    public static func timer<Key: Hashable & Codable & Sendable>(
        _ name: String? = nil, at times: @escaping @Sendable (State) -> TrackedDictionary<Key, WallTime>,
        event: @escaping @Sendable (Key) -> Event,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .timer(name ?? place(file, line, column), KeyedSource(of: times) { $0 }, event: event)
    }

    /// Sets one timer for each entry of a tracked dictionary that has a time. The cost of an event is proportional to the
    /// entries that it changes.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop. Without one it is named for the place
    ///     of the call in the source, which suffices for a loop in one process.
    ///   - entries: the entries, such as all orders.
    ///   - time: the due time of an entry, or nil for never. A function of the entry alone.
    ///   - event: the event that the timer of a key sends.
    ///   - file: the file of the call, for the name.
    ///   - line: the line of the call, for the name.
    ///   - column: the column of the call, for the name.
    public static func timer<Key: Hashable & Codable & Sendable, Entry: Sendable>(
        _ name: String? = nil, of entries: @escaping @Sendable (State) -> TrackedDictionary<Key, Entry>,
        at time: @escaping @Sendable (Entry) -> WallTime?, event: @escaping @Sendable (Key) -> Event,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .timer(name ?? place(file, line, column), KeyedSource(of: entries, time), event: event)
    }

    /// Sets one timer while the state has a time for it.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop. Without one it is named for the place
    ///     of the call in the source, which suffices for a loop in one process.
    ///   - time: the due time, or nil for never.
    ///   - event: the event that the timer sends.
    ///   - file: the file of the call, for the name.
    ///   - line: the line of the call, for the name.
    ///   - column: the column of the call, for the name.
    public static func timer(
        _ name: String? = nil, at time: @escaping @Sendable (State) -> WallTime?,
        event: @escaping @Sendable () -> Event,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .timer(name ?? place(file, line, column), KeyedSource(sole: time)) { (_: SoleKey) in event() }
    }

    private static func timer<Key: Hashable & Codable & Sendable>(
        _ name: String, _ source: KeyedSource<State, Key, WallTime>, event: @escaping @Sendable (Key) -> Event
    ) -> Feedback {
        Feedback(name: name, placement: .reducer, kind: .timer(FeedbackTimer(name, source, event: event)))
    }
}
