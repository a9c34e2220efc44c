/// The keys that a query last requested, and their effects.
@usableFromInline
struct KeyedMemory<Key: Hashable & Sendable, Request: Sendable>: Sendable {
    @usableFromInline let isSame: @Sendable (Request, Request) -> Bool
    @usableFromInline let order = KeyOrder<Key>()
    @usableFromInline var feedback: UInt32 = 0
    @usableFromInline var coder: (any ValueCoder)?
    /// The last requests by key, or nil if they are unknown because another definition made them.
    @usableFromInline var wanted: [Key: Request]? = [:]
    @usableFromInline var live: [Key: EffectID] = [:]

    init(isSame: @escaping @Sendable (Request, Request) -> Bool) { self.isSame = isSame }

    @inlinable
    mutating func follow(_ now: [Key: Request], seq: Seq, firstIndex: UInt32, into changes: inout [EffectChange]) {
        compareLive(now, into: &changes)
        if live.count != now.count { startNew(now, seq: seq, firstIndex: firstIndex, into: &changes) }
        wanted = now
    }

    mutating func cancelAll(into changes: inout [EffectChange]) {
        compareLive([:], into: &changes)
        wanted = [:]
    }

    /// Cancels effects whose key has vanished, and updates those whose request has changed, in the order of the effects.
    /// One pass over arrays of known types, because these arrays are most of what a query of few keys costs.
    @inlinable
    mutating func compareLive(_ now: [Key: Request], into changes: inout [EffectChange]) {
        var vanished: [Key] = []
        var cancelled: [EffectID] = []
        var updated: [EffectUpdate] = []
        for (key, id) in live {
            guard let new = now[key] else {
                vanished.append(key)
                cancelled.append(id)
                continue
            }
            if let old = wanted?[key], isSame(old, new) { continue }
            updated.append(EffectUpdate(id: id, request: new))
        }
        for key in vanished { live[key] = nil }
        if cancelled.count > 1 { cancelled.sort() }
        for id in cancelled { changes.append(.cancel(id)) }
        if updated.count > 1 { updated.sort { $0.id < $1.id } }
        for update in updated { changes.append(.update(update.id, request: update.request)) }
    }

    @inlinable
    mutating func startNew(_ now: [Key: Request], seq: Seq, firstIndex: UInt32, into changes: inout [EffectChange]) {
        var new: [Key] = []
        for key in now.keys where live[key] == nil { new.append(key) }
        if new.count > 1 { new = order.sorted(new, coder: coder) }
        var index = firstIndex
        for key in new {
            guard let request = now[key] else { continue }
            let id = EffectID(feedback: feedback, seq: seq, index: index)
            index &+= 1
            live[key] = id
            changes.append(.start(id, request: request))
        }
    }
}

/// A newer request of an effect.
@usableFromInline
struct EffectUpdate {
    @usableFromInline let id: EffectID
    @usableFromInline let request: any Sendable

    @inlinable
    init(id: EffectID, request: any Sendable) {
        self.id = id
        self.request = request
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
