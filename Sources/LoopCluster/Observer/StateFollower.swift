package import LoopCore
package import LoopWire

/// Makes states from what an ``ObserverMachine`` hands out. It decodes, applies deltas, and compares with the reducer's
/// hashes.
///
///     waiting ── a state ──▶ at a state ── a delta ──▶ at the next
///        ▲                       │
///        └── divergence ─────────┘   it does not apply, or hashes differ: the machine has to `resync`
///
/// It never traps, whatever the bytes are.
package struct StateFollower<Value: Codable & Sendable>: Sendable {
    /// The newest state that was shown.
    package private(set) var current: (id: StateID, value: Value)?
    /// The history and the epoch of the present actions. Its seq is not used.
    private var place = StateID.none
    /// Whether it waits for the next state, and ignores everything else.
    private var isWaiting = true
    /// A state whose chunks are coming.
    private var assembled: AssembledState<Value>?
    private let coder: any ValueCoder
    package var brokenRules = BrokenRules()

    /// A result of an action.
    package enum Step: Sendable {
        /// This state is to be shown.
        case shows(StateID, Value)
        /// The state that is shown has this ID from now on.
        case renames(StateID, Value)
        /// An action does not fit the state. The caller calls the machine's `resync` with `shown`.
        case diverged(StateDivergence)
    }

    /// Creates a follower of whole states and deltas.
    package init(_ type: Value.Type, coder: any ValueCoder = CBORCoder()) { self.coder = coder }

    /// Takes an action of the machine. Calls `tell` with every result, in order.
    package mutating func take(_ action: ObserverAction, _ tell: (Step) -> Void) {
        switch action {
        case .begins(let history, let epoch): place = StateID(history: history, epoch: epoch, seq: .initial)
        case .state(let seq, let bytes): begin(seq, bytes, tell)
        case .again(let seq, let bytes): if !stays(at: seq, bytes, tell) { begin(seq, bytes, tell) }
        case .chunk(let seq, let number, let bytes): add(seq, number, bytes, tell)
        case .assembled(let seq, let isAgain): assemble(seq, isAgain: isAgain, tell)
        case .delta(let seq, let hash, let bytes): apply(seq, hash, bytes, tell)
        case .hash(let seq, let hash):
            guard !isWaiting, let current else { return }
            if let divergence = divergence(current.value, seq, hash) { begin(diverged: divergence, tell) }
        case .send, .transitions, .missed, .ended, .refused, .standing: break
        }
    }

    /// The seq of the newest state of this epoch that was shown, or nil before the first.
    package var shown: Seq? { current.flatMap { $0.id == id($0.id.seq) ? $0.id.seq : nil } }

    private func id(_ seq: Seq) -> StateID { StateID(history: place.history, epoch: place.epoch, seq: seq) }

    /// Whether a state that came once more is the one that is shown. Then only its ID is new.
    private mutating func stays(at seq: Seq, _ bytes: [UInt8], _ tell: (Step) -> Void) -> Bool {
        guard let current, (try? coder.encode(current.value)) == bytes else { return false }
        let id = id(seq)
        self.current = (id, current.value)
        (isWaiting, assembled) = (false, nil)
        if id != current.id { tell(.renames(id, current.value)) }
        return true
    }

    private mutating func add(_ seq: Seq, _ number: Int, _ bytes: [UInt8], _ tell: (Step) -> Void) {
        do {
            if number == 0 { assembled = try AssembledState(manifest: bytes) } else { try assembled?.add(bytes) }
        } catch {
            begin(diverged: .unreadableChunk(seq, number, "\(error)"), tell)
        }
    }

    private mutating func assemble(_ seq: Seq, isAgain: Bool, _ tell: (Step) -> Void) {
        guard let assembled else { return begin(diverged: .unreadable(seq, "its chunks are not here"), tell) }
        do {
            let value = try assembled.state()
            if isAgain, let bytes = try? coder.encode(value), stays(at: seq, bytes, tell) { return }
            begin(seq, value, tell)
        } catch {
            begin(diverged: .unreadable(seq, "\(error)"), tell)
        }
    }

    private mutating func begin(_ seq: Seq, _ bytes: [UInt8], _ tell: (Step) -> Void) {
        do {
            begin(seq, try coder.decode(Value.self, from: bytes), tell)
        } catch {
            begin(diverged: .unreadable(seq, "\(error)"), tell)
        }
    }

    private mutating func begin(_ seq: Seq, _ value: Value, _ tell: (Step) -> Void) {
        (isWaiting, assembled) = (false, nil)
        show(seq, value, tell)
    }

    private mutating func begin(diverged divergence: StateDivergence, _ tell: (Step) -> Void) {
        (isWaiting, assembled) = (true, nil)
        tell(.diverged(divergence))
    }

    private mutating func show(_ seq: Seq, _ value: Value, _ tell: (Step) -> Void) {
        let id = id(seq)
        current = (id, value)
        tell(.shows(id, value))
    }

    private mutating func apply(_ seq: Seq, _ hash: UInt64?, _ bytes: [UInt8], _ tell: (Step) -> Void) {
        guard !isWaiting, var value = current?.value else { return }
        do {
            try Delta.apply(bytes, to: &value)
        } catch {
            return begin(diverged: .deltaDoesNotFit(seq, "\(error)"), tell)
        }
        if let hash, let divergence = divergence(value, seq, hash) { return begin(diverged: divergence, tell) }
        show(seq, value, tell)
    }

    /// Why the value does not fit, or nil if it has the hash.
    private func divergence(_ value: Value, _ seq: Seq, _ hash: UInt64) -> StateDivergence? {
        guard !brokenRules.contains(.hashesAreCompared) else { return nil }
        var own = hash
        try? coder.withEncoding(of: value) { own = StableHash.fnv1a($0) }
        return own == hash ? nil : .otherHash(seq, own: own, reducer: hash)
    }

    /// Replaces the current value, for a simulated fault of memory.
    package mutating func damage(_ value: Value) {
        guard let current, !isWaiting else { return }
        self.current = (current.id, value)
    }
}

/// The reason why a state is not shown, or is fetched again after it was shown.
package enum StateDivergence: Error, Equatable, Sendable, CustomStringConvertible {
    /// The bytes of a state cannot be decoded, for this reason.
    case unreadable(Seq, String)
    /// A chunk of a state cannot be decoded, for this reason. Chunks count from 0. The type may be able to read the whole state.
    case unreadableChunk(Seq, Int, String)
    /// A delta does not apply to the state that is shown, for this reason.
    case deltaDoesNotFit(Seq, String)
    /// The state at this seq has another hash than the reducer's.
    case otherHash(Seq, own: UInt64, reducer: UInt64)

    /// The misfit and its consequence, for logs.
    package var description: String {
        switch self {
        case .unreadable(let seq, let why): "the state at seq \(seq) cannot be read: \(why)"
        case .unreadableChunk(let seq, let chunk, let why):
            "chunk \(chunk) of the state at seq \(seq) cannot be read: \(why); the state is fetched whole"
        case .deltaDoesNotFit(let seq, let why):
            "the delta that makes the state at seq \(seq) does not fit: \(why); the state is fetched again"
        case .otherHash(let seq, let own, let reducer):
            "the state at seq \(seq) hashes to \(hexadecimal(own)), and the reducer's to \(hexadecimal(reducer)); the state"
                + " is fetched again"
        }
    }
}
