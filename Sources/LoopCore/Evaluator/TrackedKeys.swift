/// The keys that a query of a `TrackedDictionary` has asked for, and their effects.
///
/// The keys of what was asked for are the live ones, so that only changed keys can have changed effects.
@usableFromInline
struct TrackedKeys<Key: Hashable & Sendable, Request: Sendable & Equatable>: Sendable {
    @usableFromInline let order = KeyOrder<Key>()
    @usableFromInline var feedback: UInt32 = 0
    @usableFromInline var coder: (any ValueCoder)?
    /// What was last asked for; nil: not known, because another definition asked for it.
    @usableFromInline var wanted: TrackedDictionary<Key, Request>? = [:]
    @usableFromInline var live: [Key: EffectID] = [:]

    @inlinable
    init() {}

    /// Says what changes where this is asked for now. Looks at what has changed since the last time only.
    @inlinable
    mutating func follow(_ now: TrackedDictionary<Key, Request>, seq: Seq, into changes: inout [EffectChange]) {
        guard let old = wanted else { return followAll(now, seq: seq, firstIndex: 0, into: &changes) }
        let changed = now.changes(since: old)
        wanted = now
        if changed.isEmpty { return }
        var cancelled: [EffectID] = []
        var updated: [(id: EffectID, request: Request)] = []
        for key in changed.removed {
            guard let id = live[key] else { continue }
            if let request = now[key] {
                // It was removed and came back.
                if old[key] != request { updated.append((id, request)) }
            } else {
                cancelled.append(id)
                live[key] = nil
            }
        }
        for (key, request) in changed.updated {
            if let id = live[key] { updated.append((id, request)) }
        }
        tell(cancelled, updated, into: &changes)
        var new: [Key] = []
        for (key, _) in changed.inserted where live[key] == nil { new.append(key) }
        start(new, now, seq: seq, firstIndex: 0, into: &changes)
    }

    /// Compares what is live with all that is asked for now; a kept key is told its request in any case.
    @usableFromInline
    mutating func followAll(
        _ now: TrackedDictionary<Key, Request>, seq: Seq, firstIndex: UInt32, into changes: inout [EffectChange]
    ) {
        var cancelled: [EffectID] = []
        var updated: [(id: EffectID, request: Request)] = []
        for (key, id) in live {
            if let request = now[key] { updated.append((id, request)) } else { cancelled.append(id) }
        }
        if !cancelled.isEmpty { live = live.filter { now.contains($0.key) } }
        tell(cancelled, updated, into: &changes)
        var new: [Key] = []
        for (key, _) in now where live[key] == nil { new.append(key) }
        start(new, now, seq: seq, firstIndex: firstIndex, into: &changes)
        wanted = now
    }

    mutating func cancelAll(into changes: inout [EffectChange]) {
        tell(Array(live.values), [], into: &changes)
        live = [:]
        wanted = [:]
    }

    @inlinable
    func tell(
        _ cancelled: [EffectID], _ updated: [(id: EffectID, request: Request)], into changes: inout [EffectChange]
    ) {
        for id in cancelled.sorted() { changes.append(.cancel(id)) }
        for update in updated.sorted(by: { $0.id < $1.id }) {
            changes.append(.update(update.id, request: update.request))
        }
    }

    /// Starts new keys, ordered by their encoded bytes.
    @inlinable
    mutating func start(
        _ keys: [Key], _ now: TrackedDictionary<Key, Request>, seq: Seq, firstIndex: UInt32,
        into changes: inout [EffectChange]
    ) {
        var index = firstIndex
        for key in keys.count > 1 ? order.sorted(keys, coder: coder) : keys {
            guard let request = now[key] else { continue }
            let id = EffectID(feedback: feedback, seq: seq, index: index)
            index &+= 1
            live[key] = id
            changes.append(.start(id, request: request))
        }
    }
}

extension TrackedKeys {
    func memory(_ coder: any ValueCoder) throws -> QueryMemory {
        guard let coding = order.coding else { throw QueryMemoryError.notCodable(Key.self, "keys") }
        var remembered: [QueryMemory.Remembered] = []
        remembered.reserveCapacity(live.count)
        for (key, id) in live {
            remembered.append(QueryMemory.Remembered(bytes: try coding.encode(key, coder), id: id))
        }
        remembered.sort { $0.id < $1.id }
        return .keyed(remembered)
    }

    /// - Parameter now: what it would have asked for; where that is not what runs, its code is another one now.
    mutating func restore(
        _ memory: QueryMemory, _ now: TrackedDictionary<Key, Request>, coder: any ValueCoder
    ) throws {
        guard case .keyed(let remembered) = memory else { throw QueryMemoryError.otherForm }
        live = [:]
        live.reserveCapacity(remembered.count)
        for one in remembered {
            let key = try read(one.bytes, coder)
            guard live.updateValue(one.id, forKey: key) == nil else {
                throw QueryMemoryError("it remembers the key \(key) twice")
            }
        }
        wanted = now.count == live.count && now.keys.allSatisfy { live[$0] != nil } ? now : nil
    }

    /// - Returns: the effects whose keys cannot be read.
    mutating func adopt(_ remembered: [QueryMemory.Remembered], coder: any ValueCoder) -> [EffectID] {
        var unreadable: [EffectID] = []
        for one in remembered {
            if let key = try? read(one.bytes, coder), live[key] == nil {
                live[key] = one.id
            } else {
                unreadable.append(one.id)
            }
        }
        wanted = nil
        return unreadable
    }

    private func read(_ bytes: [UInt8], _ coder: any ValueCoder) throws -> Key {
        guard let coding = order.coding else { throw QueryMemoryError.notCodable(Key.self, "keys") }
        guard let key = try coding.decode(bytes, coder) as? Key else { throw QueryMemoryError.otherForm }
        return key
    }
}
