package import LoopCollections

/// The query of timers: one live effect for each key that has a time. If a key gets another time, its effect is cancelled,
/// even if it has fired, and a new one starts.
///
/// Effects get the IDs that keyed queries would give them: cancellations in the order of effects, starts in the order of
/// the keys' encoded bytes.
package struct TimerQuery<State: Sendable, Event: Sendable, Key: Hashable & Codable & Sendable>: FeedbackQuery {
    private struct Wanted: Sendable {
        var id: EffectID
        /// The last time, or nil if it is unknown because another definition requested it.
        var time: WallTime?
    }

    /// The changes of a transition.
    private struct News: Sendable {
        var cancelled: [EffectID] = []
        var updated: [(id: EffectID, request: TimerRequest<Key>)] = []
        var started: [Key] = []
    }

    private let source: TimerSource<State, Key>
    private let order = KeyOrder<Key>()
    private var feedback: UInt32 = 0
    private var coder: (any ValueCoder)?
    private var live: [Key: Wanted] = [:]
    /// The mark of the last state, or nil if the next state must be compared with all live effects.
    private var mark: TimerSource<State, Key>.Mark?

    init(_ source: TimerSource<State, Key>) { self.source = source }

    package mutating func prepare(feedback: UInt32, coder: (any ValueCoder)?) {
        self.feedback = feedback
        self.coder = coder
    }

    package mutating func advance(
        state: borrowing Lent, event: borrowing Lent, seq: Seq, into changes: inout [EffectChange]
    ) {
        var news = News()
        let source = source
        if let mark, let newest = source.tell(state, mark, { look($0, $1, &news) }) {
            self.mark = newest
        } else {
            lookAtAll(state, &news)
        }
        tell(news, seq: seq, firstIndex: 0, into: &changes)
    }

    package mutating func cancelAll(into changes: inout [EffectChange]) {
        Self.cancel(live.values.map(\.id), into: &changes)
        live = [:]
        mark = nil
    }

    // MARK: Changes

    /// Notes what is new about one key. A second call for the same key notes nothing.
    private mutating func look(_ key: Key, _ time: WallTime?, _ news: inout News) {
        guard let time else {
            if let gone = live.removeValue(forKey: key) { news.cancelled.append(gone.id) }
            return
        }
        guard let wanted = live[key] else { return start(key, time, &news) }
        guard let known = wanted.time else {
            live[key]?.time = time
            news.updated.append((wanted.id, TimerRequest(key: key, time: time)))
            return
        }
        if known == time { return }
        news.cancelled.append(wanted.id)
        start(key, time, &news)
    }

    private mutating func start(_ key: Key, _ time: WallTime, _ news: inout News) {
        // The effect gets its number when all new keys are known.
        live[key] = Wanted(id: EffectID(feedback: feedback, seq: .initial, index: 0), time: time)
        news.started.append(key)
    }

    private mutating func lookAtAll(_ state: borrowing Lent, _ news: inout News) {
        let (now, mark) = asked(state)
        for key in live.keys where now[key] == nil { look(key, nil, &news) }
        for (key, time) in now { look(key, time, &news) }
        self.mark = mark
    }

    /// All times that a state requests.
    private func asked(_ state: borrowing Lent) -> ([Key: WallTime], TimerSource<State, Key>.Mark?) {
        var now: [Key: WallTime] = [:]
        let mark = source.tell(state, nil) { now[$0] = $1 }
        return (now, mark)
    }

    private mutating func tell(_ news: News, seq: Seq, firstIndex: UInt32, into changes: inout [EffectChange]) {
        if !news.cancelled.isEmpty { Self.cancel(news.cancelled, into: &changes) }
        for update in news.updated.sorted(by: { $0.id < $1.id }) {
            changes.append(.update(update.id, request: update.request))
        }
        var index = firstIndex
        for key in order.sorted(news.started, coder: coder) {
            guard let time = live[key]?.time else { continue }
            let id = EffectID(feedback: feedback, seq: seq, index: index)
            index &+= 1
            live[key]?.id = id
            changes.append(.start(id, request: TimerRequest(key: key, time: time)))
        }
    }

    // MARK: Memory

    package var uncodable: String? { nil }

    package func memory(_ coder: any ValueCoder) throws -> QueryMemory {
        var remembered: [QueryMemory.Remembered] = []
        remembered.reserveCapacity(live.count)
        for (key, wanted) in live {
            remembered.append(QueryMemory.Remembered(bytes: try coder.encode(key), id: wanted.id))
        }
        remembered.sort { $0.id < $1.id }
        return .keyed(remembered)
    }

    package mutating func restore(_ memory: QueryMemory, state: borrowing Lent, coder: any ValueCoder) throws {
        guard case .keyed(let remembered) = memory else { throw QueryMemoryError.otherForm }
        live = [:]
        mark = nil
        for one in remembered {
            let key = try coder.decode(Key.self, from: one.bytes)
            guard live.updateValue(Wanted(id: one.id, time: nil), forKey: key) == nil else {
                throw QueryMemoryError("it remembers the key \(key) twice")
            }
        }
        // If the requests at this state are not the live ones, the query's code has changed.
        let (now, mark) = asked(state)
        guard now.count == live.count, now.keys.allSatisfy({ live[$0] != nil }) else { return }
        for (key, time) in now { live[key]?.time = time }
        self.mark = mark
    }

    package mutating func adopt(_ memory: QueryMemory, coder: any ValueCoder, into changes: inout [EffectChange]) {
        guard case .keyed(let remembered) = memory.innermost else {
            return Self.cancel(memory.effects, into: &changes)
        }
        var unreadable: [EffectID] = []
        for one in remembered {
            if let key = try? coder.decode(Key.self, from: one.bytes), live[key] == nil {
                live[key] = Wanted(id: one.id, time: nil)
            } else {
                unreadable.append(one.id)
            }
        }
        mark = nil
        Self.cancel(unreadable, into: &changes)
    }

    package mutating func reconcile(
        state: borrowing Lent, seq: Seq, firstIndex: UInt32, into changes: inout [EffectChange]
    ) {
        for key in live.keys { live[key]?.time = nil }
        var news = News()
        lookAtAll(state, &news)
        tell(news, seq: seq, firstIndex: firstIndex, into: &changes)
    }
}
