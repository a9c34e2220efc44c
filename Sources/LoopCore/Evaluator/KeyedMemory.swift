public import LoopCollections

/// The keys that a query last requested, and their effects.
///
/// Only changed keys can have changed effects. A `KeyedSource` looks at those that may have changed since its last mark.
@usableFromInline
package struct KeyedMemory<Key: Hashable & Sendable, Value: Sendable & Equatable>: Sendable {
    @usableFromInline
    struct Wanted: Sendable {
        @usableFromInline var id: EffectID
        /// The last value, or nil if it is unknown because another definition made it.
        @usableFromInline var value: Value?

        @inlinable
        init(id: EffectID, value: Value?) {
            self.id = id
            self.value = value
        }
    }

    /// What a source needs of the last state to find the keys that have changed.
    @usableFromInline
    enum Mark: Sendable {
        case dictionary([Key: Value])
        case set(Set<Key>)
        /// A kept copy of a tracked dictionary would force the next change of the state to copy it.
        case stamp(TrackedStamp)
        case sole(Value?)
    }

    /// Makes the request of a timer; or nil if the values are themselves the requests.
    @usableFromInline let timer: (@Sendable (Key, Value) -> any Sendable)?
    @usableFromInline let order = KeyOrder<Key>()
    @usableFromInline var feedback: UInt32 = 0
    @usableFromInline var coder: (any ValueCoder)?
    @usableFromInline var live = HashTable<Key, Wanted>()
    /// The mark of the last state, or nil if the next state must be compared with all live keys.
    @usableFromInline var mark: Mark?
    /// The changes of the present transition; empty between two transitions.
    @usableFromInline var news = KeyedNews()

    init(timer: (@Sendable (Key, Value) -> any Sendable)?) { self.timer = timer }

    /// The keys with effects, as an array, so that the table can change meanwhile.
    @inlinable
    var liveKeys: [Key] { live.map { $0.key } }

    @inlinable
    static func hash(_ key: Key) -> UInt64 { TrackedDictionary<Key, Value>.hash(key) }

    // MARK: Changes

    /// Notes what is new about one key, whose value is nil if it has gone. A second call for the same key notes nothing.
    @inlinable
    mutating func look(_ key: Key, _ value: Value?) { look(key, Self.hash(key), value) }

    @inlinable
    mutating func look(_ key: Key, _ hash: UInt64, _ value: Value?) {
        let place = live.find(key, hash)
        guard let value else {
            if let place { news.cancelled.append(live.remove(at: place, hash).id) }
            return
        }
        guard let place else {
            // The effect gets its number when all new keys are known.
            let wanted = Wanted(id: EffectID(feedback: feedback, seq: .initial, index: 0), value: value)
            news.started.append(live.insert(key, wanted, hash))
            return
        }
        let isKnown: Bool
        if let known = live[at: place].value {
            if known == value { return }
            isKnown = true
        } else {
            isKnown = false
        }
        live[at: place].value = value
        if isKnown, timer != nil {
            // A timer that gets another time is another timer, even if the old one has fired.
            news.cancelled.append(live[at: place].id)
            news.started.append(place)
        } else {
            news.updated.append((live[at: place].id, place))
        }
    }

    /// Looks at the entries of a tracked dictionary that have changed since the last mark, and reports what changes.
    /// - Parameter value: the value of a key and its entry, or nil for none.
    @inlinable
    mutating func follow<Entry>(
        _ now: TrackedDictionary<Key, Entry>, _ value: (Key, Entry) -> Value?, seq: Seq, firstIndex: UInt32,
        into changes: inout [EffectChange]
    ) {
        if case .stamp(let stamp)? = mark,
            let newest = now.forEachChange(
                after: stamp,
                { key, hash in
                    guard let entry = now.value(of: key, hash) else { return look(key, hash, nil) }
                    look(key, hash, value(key, entry))
                })
        {
            if newest == stamp { return }
            mark = .stamp(newest)
        } else {
            lookAtAll(now, value)
        }
        report(seq: seq, firstIndex: firstIndex, into: &changes)
    }

    @usableFromInline
    mutating func lookAtAll<Entry>(_ now: TrackedDictionary<Key, Entry>, _ value: (Key, Entry) -> Value?) {
        for key in liveKeys where !now.contains(key) { look(key, nil) }
        for (key, entry) in now { look(key, value(key, entry)) }
        mark = now.stamp.map { .stamp($0) }
    }

    mutating func cancelAll(into changes: inout [EffectChange]) {
        for (_, wanted) in live { news.cancelled.append(wanted.id) }
        live.removeAll()
        mark = nil
        report(seq: .initial, firstIndex: 0, into: &changes)
    }

    /// Forgets the values, so that the next state is compared with all live keys, and each kept key is reported as an update.
    mutating func forgetValues() {
        for (place, _) in live.places { live[at: place].value = nil }
        mark = nil
    }

    /// Reports cancellations and updates in the order of their effects, then starts in the order of their encoded keys.
    @inlinable
    mutating func report(seq: Seq, firstIndex: UInt32, into changes: inout [EffectChange]) {
        if news.cancelled.count > 1 { news.cancelled.sort() }
        for id in news.cancelled { changes.append(.cancel(id)) }
        if news.updated.count > 1 { news.updated.sort { $0.id < $1.id } }
        for (id, place) in news.updated {
            guard let request = request(at: place) else { continue }
            changes.append(.update(id, request: request))
        }
        if news.started.count > 1 { sortStarted() }
        var index = firstIndex
        for place in news.started {
            guard let request = request(at: place) else { continue }
            let id = EffectID(feedback: feedback, seq: seq, index: index)
            index &+= 1
            live[at: place].id = id
            changes.append(.start(id, request: request))
        }
        news.removeAll()
    }

    /// The request of the key at a taken place, or nil if its value is unknown.
    @inlinable
    func request(at place: Int) -> (any Sendable)? {
        guard let value = live[at: place].value else { return nil }
        guard let timer else { return value }
        return timer(live.key(at: place), value)
    }

    /// Orders the new keys by their encoded bytes.
    @usableFromInline
    mutating func sortStarted() {
        let keys = order.sorted(news.started.map { live.key(at: $0) }, coder: coder)
        news.started = keys.compactMap { live.find($0, Self.hash($0)) }
    }

    // MARK: Memory

    /// The effect of each key, sorted by effect.
    func remembered(_ coder: any ValueCoder) throws -> [QueryMemory.Remembered] {
        guard let coding = order.coding else { throw QueryMemoryError.notCodable(Key.self, "keys") }
        var remembered: [QueryMemory.Remembered] = []
        remembered.reserveCapacity(live.count)
        for (key, wanted) in live {
            remembered.append(QueryMemory.Remembered(bytes: try coding.encode(key, coder), id: wanted.id))
        }
        remembered.sort { $0.id < $1.id }
        return remembered
    }

    /// Takes over the effect of a key. Its value is unknown.
    /// - Returns: whether the key is new.
    mutating func take(_ key: Key, _ id: EffectID) -> Bool {
        let hash = Self.hash(key)
        if live.find(key, hash) != nil { return false }
        live.insert(key, Wanted(id: id, value: nil), hash)
        return true
    }

    func readKey(_ bytes: [UInt8], _ coder: any ValueCoder) throws -> Key {
        guard let coding = order.coding else { throw QueryMemoryError.notCodable(Key.self, "keys") }
        guard let key = try coding.decode(bytes, coder) as? Key else { throw QueryMemoryError.otherForm }
        return key
    }
}

/// What a transition changes among the keys of a query. A place is that of the key in the table of live ones.
@usableFromInline
struct KeyedNews: Sendable {
    @usableFromInline var cancelled: [EffectID] = []
    @usableFromInline var updated: [(id: EffectID, place: Int)] = []
    @usableFromInline var started: [Int] = []

    @inlinable
    init() {}

    /// Empties the lists. Small buffers are kept for the next transition; large ones are freed.
    @inlinable
    mutating func removeAll() {
        if cancelled.count + updated.count + started.count > 64 {
            self = KeyedNews()
        } else {
            cancelled.removeFew()
            updated.removeFew()
            started.removeFew()
        }
    }
}

/// Orders keys by their encoded bytes, so that every process numbers the same starts alike.
@usableFromInline
package struct KeyOrder<Key: Hashable & Sendable>: Sendable {
    let coding = RequestCoding(Key.self)

    package init() {}

    /// Sorts the keys by their encoded bytes; or by their description if there is no coder or they are not `Codable`.
    @usableFromInline
    package func sorted(_ keys: [Key], coder: (any ValueCoder)?) -> [Key] {
        if keys.count < 2 { return keys }
        if let coder, let coding {
            var encoded: [(position: Int, bytes: [UInt8])] = []
            for (position, key) in keys.enumerated() {
                encoded.append((position, (try? coding.encode(key, coder)) ?? []))
            }
            encoded.sort { $0.bytes.lexicographicallyPrecedes($1.bytes) }
            return encoded.map { keys[$0.position] }
        }
        var described = keys.enumerated().map { (position: $0, text: String(describing: $1)) }
        described.sort { $0.text < $1.text }
        return described.map { keys[$0.position] }
    }
}
