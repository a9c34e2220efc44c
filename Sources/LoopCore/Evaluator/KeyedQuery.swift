/// The query of keyed feedbacks: one live effect for each key.
///
/// A key that vanished is cancelled, one that stays is untouched, a new one starts; a changed request of a kept key is
/// an update of its effect. Work is in proportion to the number of keys when they changed, and constant when the
/// dictionary is the same as before.
package struct KeyedQuery<State: Sendable, Event: Sendable, Key: Hashable & Sendable, Request: Sendable>: FeedbackQuery
{
    private let requests: @Sendable (State) -> [Key: Request]
    private let isSame: @Sendable (Request, Request) -> Bool
    private let isUnchanged: @Sendable ([Key: Request], [Key: Request]) -> Bool
    private let order: KeyOrder<Key>
    private var feedback: UInt32 = 0
    private var coder: (any ValueCoder)?
    /// What was last asked for; nil: not known, because another definition asked for it.
    private var wanted: [Key: Request]? = [:]
    private var live: [Key: EffectID] = [:]

    package init(requests: @escaping @Sendable (State) -> [Key: Request]) where Request: Equatable {
        self.requests = requests
        isSame = { $0 == $1 }
        isUnchanged = { $0 == $1 }
        order = KeyOrder()
    }

    package mutating func prepare(feedback: UInt32, coder: (any ValueCoder)?) {
        self.feedback = feedback
        self.coder = coder
    }

    package mutating func advance(state: State, event: Event?, seq: Seq, into changes: inout [EffectChange]) {
        let now = requests(state)
        if let wanted, isUnchanged(wanted, now) { return }
        follow(now, seq: seq, firstIndex: 0, into: &changes)
    }

    private mutating func follow(
        _ now: [Key: Request], seq: Seq, firstIndex: UInt32, into changes: inout [EffectChange]
    ) {
        compareLive(now, into: &changes)
        startNew(now, seq: seq, firstIndex: firstIndex, into: &changes)
        wanted = now
    }

    package mutating func cancelAll(into changes: inout [EffectChange]) {
        compareLive([:], into: &changes)
        wanted = [:]
    }

    /// Cancels the effects whose key has vanished, and updates those whose request has changed, in the order of their
    /// effects. One pass, with arrays of types that are known here: made for every transition, they are what a query of few
    /// keys costs.
    private mutating func compareLive(_ now: [Key: Request], into changes: inout [EffectChange]) {
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

    private mutating func startNew(
        _ now: [Key: Request], seq: Seq, firstIndex: UInt32, into changes: inout [EffectChange]
    ) {
        if live.count == now.count { return }
        let new = order.sorted(now.keys.filter { live[$0] == nil }, coder: coder)
        for (index, key) in new.enumerated() {
            guard let request = now[key] else { continue }
            let id = EffectID(feedback: feedback, seq: seq, index: firstIndex &+ UInt32(truncatingIfNeeded: index))
            live[key] = id
            changes.append(.start(id, request: request))
        }
    }

    // MARK: Memory

    /// Whether it is known what was last asked for.
    var isCertain: Bool { wanted != nil }

    package var uncodable: String? {
        order.coding == nil ? "\(Key.self)" : RequestCoding(Request.self) == nil ? "\(Request.self)" : nil
    }

    package func memory(_ coder: any ValueCoder) throws -> QueryMemory {
        guard let coding = order.coding else { throw QueryMemoryError.notCodable(Key.self, "keys") }
        var remembered: [QueryMemory.Remembered] = []
        remembered.reserveCapacity(live.count)
        for (key, id) in live {
            remembered.append(QueryMemory.Remembered(bytes: try coding.encode(key, coder), id: id))
        }
        remembered.sort { $0.id < $1.id }
        return .keyed(remembered)
    }

    package mutating func restore(_ memory: QueryMemory, state: State, coder: any ValueCoder) throws {
        guard case .keyed(let remembered) = memory else { throw QueryMemoryError.otherForm }
        live = [:]
        live.reserveCapacity(remembered.count)
        for one in remembered {
            let key = try read(one.bytes, coder)
            guard live.updateValue(one.id, forKey: key) == nil else {
                throw QueryMemoryError("it remembers the key \(key) twice")
            }
        }
        // What it would have asked for at this state; where that is not what runs, its code is another one now.
        let now = requests(state)
        wanted = now.count == live.count && now.keys.allSatisfy { live[$0] != nil } ? now : nil
    }

    package mutating func adopt(_ memory: QueryMemory, coder: any ValueCoder, into changes: inout [EffectChange]) {
        guard case .keyed(let remembered) = memory.innermost else {
            return Self.cancel(memory.effects, into: &changes)
        }
        var unreadable: [EffectID] = []
        for one in remembered {
            if let key = try? read(one.bytes, coder), live[key] == nil {
                live[key] = one.id
            } else {
                unreadable.append(one.id)
            }
        }
        Self.cancel(unreadable, into: &changes)
    }

    package mutating func reconcile(
        state: State, seq: Seq, firstIndex: UInt32, into changes: inout [EffectChange]
    ) {
        wanted = nil
        follow(requests(state), seq: seq, firstIndex: firstIndex, into: &changes)
    }

    private func read(_ bytes: [UInt8], _ coder: any ValueCoder) throws -> Key {
        guard let coding = order.coding else { throw QueryMemoryError.notCodable(Key.self, "keys") }
        guard let key = try coding.decode(bytes, coder) as? Key else { throw QueryMemoryError.otherForm }
        return key
    }
}

/// A newer request of an effect.
private struct EffectUpdate {
    let id: EffectID
    let request: any Sendable
}

/// Orders keys by their encoded bytes, so that every process numbers the same starts alike.
package struct KeyOrder<Key: Hashable & Sendable>: Sendable {
    let coding = RequestCoding(Key.self)

    package init() {}

    /// The keys by their encoded bytes, or, without a coder or for keys that are not `Codable`, by their description.
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
