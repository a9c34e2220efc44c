public import LoopCollections

/// The query of keyed feedbacks: one live effect for each key.
///
/// An effect whose key has vanished is cancelled, and a new key starts one. A changed request of a kept key is an update of
/// its effect. The work is proportional to the number of keys if the dictionary has changed, and constant if not.
@usableFromInline
package struct KeyedQuery<State: Sendable, Event: Sendable, Key: Hashable & Sendable, Request: Sendable>: FeedbackQuery
{
    /// The evaluation of one transition, created in code that knows the types, so that it is specialised for them.
    @usableFromInline
    typealias Step = @Sendable (borrowing Lent, Seq, inout KeyedMemory<Key, Request>, inout [EffectChange]) -> Void

    private let requests: @Sendable (State) -> [Key: Request]
    private let step: Step
    private var keys: KeyedMemory<Key, Request>

    @inlinable
    package init(requests: @escaping @Sendable (State) -> [Key: Request]) where Request: Equatable {
        self.init(requests: requests, isSame: { $0 == $1 }, step: Self.step(requests))
    }

    @inlinable
    static func step(_ requests: @escaping @Sendable (State) -> [Key: Request]) -> Step where Request: Equatable {
        { state, seq, keys, changes in
            let now = state.read(as: State.self, requests)
            if let wanted = keys.wanted, wanted == now { return }
            keys.follow(now, seq: seq, firstIndex: 0, into: &changes)
        }
    }

    @usableFromInline
    init(
        requests: @escaping @Sendable (State) -> [Key: Request],
        isSame: @escaping @Sendable (Request, Request) -> Bool, step: @escaping Step
    ) {
        self.requests = requests
        self.step = step
        keys = KeyedMemory(isSame: isSame)
    }

    package mutating func prepare(feedback: UInt32, coder: (any ValueCoder)?) {
        keys.feedback = feedback
        keys.coder = coder
    }

    package mutating func advance(
        state: borrowing Lent, event: borrowing Lent, seq: Seq, into changes: inout [EffectChange]
    ) {
        step(state, seq, &keys, &changes)
    }

    package mutating func cancelAll(into changes: inout [EffectChange]) { keys.cancelAll(into: &changes) }

    // MARK: Memory

    /// Whether the last requests are known.
    var isCertain: Bool { keys.wanted != nil }

    package var uncodable: String? {
        keys.order.coding == nil ? "\(Key.self)" : RequestCoding(Request.self) == nil ? "\(Request.self)" : nil
    }

    package func memory(_ coder: any ValueCoder) throws -> QueryMemory {
        guard let coding = keys.order.coding else { throw QueryMemoryError.notCodable(Key.self, "keys") }
        var remembered: [QueryMemory.Remembered] = []
        remembered.reserveCapacity(keys.live.count)
        for (key, id) in keys.live {
            remembered.append(QueryMemory.Remembered(bytes: try coding.encode(key, coder), id: id))
        }
        remembered.sort { $0.id < $1.id }
        return .keyed(remembered)
    }

    package mutating func restore(_ memory: QueryMemory, state: borrowing Lent, coder: any ValueCoder) throws {
        guard case .keyed(let remembered) = memory else { throw QueryMemoryError.otherForm }
        keys.live = [:]
        keys.live.reserveCapacity(remembered.count)
        for one in remembered {
            let key = try read(one.bytes, coder)
            guard keys.live.updateValue(one.id, forKey: key) == nil else {
                throw QueryMemoryError("it remembers the key \(key) twice")
            }
        }
        // If the requests at this state are not those that run, the query's code has changed.
        let now = state.read(as: State.self, requests)
        keys.wanted = now.count == keys.live.count && now.keys.allSatisfy { keys.live[$0] != nil } ? now : nil
    }

    package mutating func adopt(_ memory: QueryMemory, coder: any ValueCoder, into changes: inout [EffectChange]) {
        guard case .keyed(let remembered) = memory.innermost else {
            return Self.cancel(memory.effects, into: &changes)
        }
        var unreadable: [EffectID] = []
        for one in remembered {
            if let key = try? read(one.bytes, coder), keys.live[key] == nil {
                keys.live[key] = one.id
            } else {
                unreadable.append(one.id)
            }
        }
        Self.cancel(unreadable, into: &changes)
    }

    package mutating func reconcile(
        state: borrowing Lent, seq: Seq, firstIndex: UInt32, into changes: inout [EffectChange]
    ) {
        keys.wanted = nil
        let now = state.read(as: State.self, requests)
        keys.follow(now, seq: seq, firstIndex: firstIndex, into: &changes)
    }

    private func read(_ bytes: [UInt8], _ coder: any ValueCoder) throws -> Key {
        guard let coding = keys.order.coding else { throw QueryMemoryError.notCodable(Key.self, "keys") }
        guard let key = try coding.decode(bytes, coder) as? Key else { throw QueryMemoryError.otherForm }
        return key
    }
}
