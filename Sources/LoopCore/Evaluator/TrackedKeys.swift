public import LoopCollections

/// The keys that a query of a `TrackedDictionary` has asked for, and their effects.
///
/// The keys of what was asked for are the live ones, so that only changed keys can have changed effects. Which keys those are
/// the dictionary says itself, to whoever knows the stamp that it had: a copy of it would be a copy that the next change of
/// the state must not touch.
@usableFromInline
struct TrackedKeys<Key: Hashable & Sendable, Request: Sendable & Equatable>: Sendable {
    @usableFromInline
    struct Wanted: Sendable {
        @usableFromInline var id: EffectID
        /// What was last asked for; nil: not known, because another definition asked for it.
        @usableFromInline var request: Request?

        @inlinable
        init(id: EffectID, request: Request?) {
            self.id = id
            self.request = request
        }
    }

    @usableFromInline let order = KeyOrder<Key>()
    @usableFromInline var feedback: UInt32 = 0
    @usableFromInline var coder: (any ValueCoder)?
    @usableFromInline var live = HashTable<Key, Wanted>()
    /// Of the dictionary that was last asked for; nil: of none that is known.
    @usableFromInline var stamp: TrackedStamp?
    /// Of this transition; empty between two.
    @usableFromInline var news = TrackedNews<Key, Request>()

    @inlinable
    init() {}

    /// Says what changes where this is asked for now. Looks at what has changed since the last time only.
    @inlinable
    mutating func follow(_ now: TrackedDictionary<Key, Request>, seq: Seq, into changes: inout [EffectChange]) {
        guard let stamp, let newest = now.forEachChange(after: stamp, { look($0, $1, now) }) else {
            return followAll(now, seq: seq, firstIndex: 0, into: &changes)
        }
        if newest == stamp { return }
        self.stamp = newest
        tell(seq: seq, firstIndex: 0, into: &changes)
    }

    /// What is new about one key. Asked once more, it is nothing.
    @inlinable
    mutating func look(_ key: Key, _ hash: UInt64, _ now: TrackedDictionary<Key, Request>) {
        let place = live.find(key, hash)
        guard let request = now.value(of: key, hash) else {
            if let place { news.cancelled.append(live.remove(at: place, hash).id) }
            return
        }
        guard let place else {
            // Its effect gets its number when all new keys are known.
            let wanted = Wanted(id: EffectID(feedback: feedback, seq: .initial, index: 0), request: request)
            news.started.append(live.insert(key, wanted, hash))
            return
        }
        if let known = live[at: place].request, known == request { return }
        live[at: place].request = request
        news.updated.append((live[at: place].id, request))
    }

    /// Orders the new keys by their encoded bytes.
    @usableFromInline
    mutating func sortStarted() {
        let keys = order.sorted(news.started.map { live.key(at: $0) }, coder: coder)
        news.started = keys.compactMap { live.find($0, TrackedDictionary<Key, Request>.hash($0)) }
    }

    /// Compares what is live with all that is asked for now.
    /// - Parameter tellsAll: a kept key is told its request in any case.
    @usableFromInline
    mutating func followAll(
        _ now: TrackedDictionary<Key, Request>, seq: Seq, firstIndex: UInt32, tellsAll: Bool = false,
        into changes: inout [EffectChange]
    ) {
        stamp = now.stamp
        for (key, wanted) in live {
            let hash = TrackedDictionary<Key, Request>.hash(key)
            if tellsAll, now.contains(key), let place = live.find(key, hash) {
                live[at: place] = Wanted(id: wanted.id, request: nil)
            }
            look(key, hash, now)
        }
        if live.count != now.count {
            for (key, _) in now { look(key, TrackedDictionary<Key, Request>.hash(key), now) }
        }
        tell(seq: seq, firstIndex: firstIndex, into: &changes)
    }

    mutating func cancelAll(into changes: inout [EffectChange]) {
        for (_, wanted) in live { news.cancelled.append(wanted.id) }
        live.removeAll()
        stamp = nil
        tell(seq: .initial, firstIndex: 0, into: &changes)
    }

    /// Cancellations and updates in the order of their effects, then starts, ordered by the encoded bytes of their keys.
    @inlinable
    mutating func tell(seq: Seq, firstIndex: UInt32, into changes: inout [EffectChange]) {
        if news.cancelled.count > 1 { news.cancelled.sort() }
        for id in news.cancelled { changes.append(.cancel(id)) }
        if news.updated.count > 1 { news.updated.sort { $0.id < $1.id } }
        for update in news.updated { changes.append(.update(update.id, request: update.request)) }
        if news.started.count > 1 { sortStarted() }
        var index = firstIndex
        for place in news.started {
            guard let request = live[at: place].request else { continue }
            let id = EffectID(feedback: feedback, seq: seq, index: index)
            index &+= 1
            live[at: place].id = id
            changes.append(.start(id, request: request))
        }
        news.removeAll()
    }
}

/// What a transition changes among the keys of a query.
@usableFromInline
struct TrackedNews<Key, Request> {
    @usableFromInline var cancelled: [EffectID] = []
    @usableFromInline var updated: [(id: EffectID, request: Request)] = []
    /// The places of new keys among the live ones.
    @usableFromInline var started: [Int] = []

    @inlinable
    init() {}

    /// Keeps the room for the next few; what one great change took is given back.
    @inlinable
    mutating func removeAll() {
        if cancelled.count + updated.count + started.count > 64 {
            self = TrackedNews()
        } else {
            cancelled.removeFew()
            updated.removeFew()
            started.removeFew()
        }
    }
}

extension TrackedNews: Sendable where Key: Sendable, Request: Sendable {}

extension TrackedKeys {
    func memory(_ coder: any ValueCoder) throws -> QueryMemory {
        guard let coding = order.coding else { throw QueryMemoryError.notCodable(Key.self, "keys") }
        var remembered: [QueryMemory.Remembered] = []
        remembered.reserveCapacity(live.count)
        for (key, wanted) in live {
            remembered.append(QueryMemory.Remembered(bytes: try coding.encode(key, coder), id: wanted.id))
        }
        remembered.sort { $0.id < $1.id }
        return .keyed(remembered)
    }

    /// - Parameter now: what it would have asked for; where that is not what runs, its code is another one now.
    mutating func restore(
        _ memory: QueryMemory, _ now: TrackedDictionary<Key, Request>, coder: any ValueCoder
    ) throws {
        guard case .keyed(let remembered) = memory else { throw QueryMemoryError.otherForm }
        live.removeAll()
        stamp = nil
        for one in remembered {
            let key = try read(one.bytes, coder)
            guard take(key, one.id) else { throw QueryMemoryError("it remembers the key \(key) twice") }
        }
        guard now.count == live.count,
            now.keys.allSatisfy({ live.find($0, TrackedDictionary<Key, Request>.hash($0)) != nil })
        else { return }
        for (key, request) in now {
            if let place = live.find(key, TrackedDictionary<Key, Request>.hash(key)) {
                live[at: place].request = request
            }
        }
        stamp = now.stamp
    }

    /// - Returns: the effects whose keys cannot be read.
    mutating func adopt(_ remembered: [QueryMemory.Remembered], coder: any ValueCoder) -> [EffectID] {
        var unreadable: [EffectID] = []
        for one in remembered {
            guard let key = try? read(one.bytes, coder), take(key, one.id) else {
                unreadable.append(one.id)
                continue
            }
        }
        stamp = nil
        return unreadable
    }

    /// - Returns: whether the key is a new one.
    private mutating func take(_ key: Key, _ id: EffectID) -> Bool {
        let hash = TrackedDictionary<Key, Request>.hash(key)
        if live.find(key, hash) != nil { return false }
        live.insert(key, Wanted(id: id, request: nil), hash)
        return true
    }

    private func read(_ bytes: [UInt8], _ coder: any ValueCoder) throws -> Key {
        guard let coding = order.coding else { throw QueryMemoryError.notCodable(Key.self, "keys") }
        guard let key = try coding.decode(bytes, coder) as? Key else { throw QueryMemoryError.otherForm }
        return key
    }
}
