public import LoopCollections

/// The keys that a query of a `TrackedDictionary` last requested, and their effects.
///
/// Only changed keys can have changed effects, and the dictionary lists them for the stamp that it last had. A kept copy of
/// the dictionary would force the next change of the state to copy it.
@usableFromInline
struct TrackedKeys<Key: Hashable & Sendable, Request: Sendable & Equatable>: Sendable {
    @usableFromInline
    struct Wanted: Sendable {
        @usableFromInline var id: EffectID
        /// The last request, or nil if it is unknown because another definition made it.
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
    /// The stamp of the last dictionary, or nil if none is known.
    @usableFromInline var stamp: TrackedStamp?
    /// The changes of the present transition; empty between two transitions.
    @usableFromInline var news = TrackedNews<Key, Request>()

    @inlinable
    init() {}

    /// Reports what changes if the requests are now those of `now`. It looks only at what has changed since the last call.
    /// - Parameter request: the request of a key and its entry, or nil for none.
    @inlinable
    mutating func follow<Entry>(
        _ now: TrackedDictionary<Key, Entry>, _ request: (Key, Entry) -> Request?, seq: Seq,
        into changes: inout [EffectChange]
    ) {
        guard let stamp, let newest = now.forEachChange(after: stamp, { look($0, $1, now, request) }) else {
            return followAll(now, request, seq: seq, firstIndex: 0, into: &changes)
        }
        if newest == stamp { return }
        self.stamp = newest
        tell(seq: seq, firstIndex: 0, into: &changes)
    }

    /// Notes what is new about one key. A second call for the same key notes nothing.
    @inlinable
    mutating func look<Entry>(
        _ key: Key, _ hash: UInt64, _ now: TrackedDictionary<Key, Entry>, _ request: (Key, Entry) -> Request?
    ) {
        let place = live.find(key, hash)
        guard let entry = now.value(of: key, hash), let request = request(key, entry) else {
            if let place { news.cancelled.append(live.remove(at: place, hash).id) }
            return
        }
        guard let place else {
            // The effect gets its number when all new keys are known.
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

    /// Compares the live keys with all present requests.
    /// - Parameter tellsAll: whether a kept key is reported as an update in any case.
    @usableFromInline
    mutating func followAll<Entry>(
        _ now: TrackedDictionary<Key, Entry>, _ request: (Key, Entry) -> Request?, seq: Seq, firstIndex: UInt32,
        tellsAll: Bool = false, into changes: inout [EffectChange]
    ) {
        stamp = now.stamp
        for (key, wanted) in live {
            let hash = TrackedDictionary<Key, Entry>.hash(key)
            if tellsAll, now.contains(key), let place = live.find(key, hash) {
                live[at: place] = Wanted(id: wanted.id, request: nil)
            }
            look(key, hash, now, request)
        }
        if live.count != now.count {
            for (key, _) in now { look(key, TrackedDictionary<Key, Entry>.hash(key), now, request) }
        }
        tell(seq: seq, firstIndex: firstIndex, into: &changes)
    }

    mutating func cancelAll(into changes: inout [EffectChange]) {
        for (_, wanted) in live { news.cancelled.append(wanted.id) }
        live.removeAll()
        stamp = nil
        tell(seq: .initial, firstIndex: 0, into: &changes)
    }

    /// Reports cancellations and updates in the order of their effects, then starts in the order of their encoded keys.
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
    /// The places of new keys in the table of live ones.
    @usableFromInline var started: [Int] = []

    @inlinable
    init() {}

    /// Empties the lists. Small buffers are kept for the next transition; large ones are freed.
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

    /// - Parameter now: the entries at this state. If their requests are not those that run, the query's code has changed.
    @usableFromInline
    mutating func restore<Entry>(
        _ memory: QueryMemory, _ now: TrackedDictionary<Key, Entry>, _ request: (Key, Entry) -> Request?,
        coder: any ValueCoder
    ) throws {
        guard case .keyed(let remembered) = memory else { throw QueryMemoryError.otherForm }
        live.removeAll()
        stamp = nil
        for one in remembered {
            let key = try read(one.bytes, coder)
            guard take(key, one.id) else { throw QueryMemoryError("it remembers the key \(key) twice") }
        }
        var requests: [(place: Int, request: Request)] = []
        for (key, entry) in now {
            guard let request = request(key, entry) else { continue }
            guard let place = live.find(key, TrackedDictionary<Key, Entry>.hash(key)) else { return }
            requests.append((place, request))
        }
        guard requests.count == live.count else { return }
        for (place, request) in requests { live[at: place].request = request }
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

    /// - Returns: whether the key is new.
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
