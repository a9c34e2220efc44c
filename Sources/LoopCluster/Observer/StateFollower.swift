public import LoopCore
public import LoopWire

/// Makes states of what an ``ObserverMachine`` hands out: decodes, applies differences, folds events, and compares with the
/// reducer's hashes.
///
///     waiting ── a state ──▶ at a state ── a difference, an event ──▶ at the next
///        ▲                       │
///        └── doubt ──────────────┘   it does not apply, or hashes differ: the machine is told to `distrust`
///
/// Never traps, whatever the bytes are.
public struct StateFollower<Value: Codable & Sendable>: Sendable {
    /// The newest state that was shown.
    public private(set) var current: (seq: Seq, value: Value)?
    /// Whether the next state is waited for, and nothing else is of use.
    private var isWaiting = true
    private let coder: any ValueCoder
    private let fold: (@Sendable (inout Value, TransitionNote, Transition) throws -> Void)?
    package var brokenRules = BrokenRules()

    /// What comes of an action.
    public enum Step: Sendable {
        case shows(Seq, Value)
        /// States at these seqs are not shown.
        case misses(ClosedRange<Seq>)
        /// What came does not fit: the machine is to be told to `distrust`, with the seq of `current`.
        case doubts(StateDoubt)
    }

    /// For whole states and differences.
    public init(_ type: Value.Type, coder: any ValueCoder = CBORCoder()) {
        self.coder = coder
        fold = nil
    }

    /// For events too: they are folded by the definition, as the reducer does.
    public init<Definition: LoopDefinition>(folding definition: Definition, coder: any ValueCoder = CBORCoder())
    where Definition.State == Value {
        self.coder = coder
        fold = { state, note, transition in
            definition.reduce(&state, try coder.decode(Definition.Event.self, from: note.event), transition)
        }
    }

    /// Takes an action of the machine; `tell` is called for everything that comes of it, in order.
    public mutating func take(_ action: ObserverAction, _ tell: (Step) -> Void) {
        switch action {
        case .state(let seq, let bytes): begin(seq, bytes, tell)
        case .again(let seq, let bytes):
            if let current, (try? coder.encode(current.value)) == bytes {
                self.current = (seq, current.value)
                isWaiting = false
            } else {
                begin(seq, bytes, tell)
            }
        case .delta(let seq, let hash, let bytes): apply(seq, hash, bytes, tell)
        case .events(let history, let notes): for note in notes { apply(note, history, tell) }
        case .hash(let seq, let hash):
            guard !isWaiting, let current else { return }
            if let doubt = doubt(current.value, seq, hash) { begin(doubting: doubt, tell) }
        case .missed(let seqs): tell(.misses(seqs))
        case .send, .transitions, .ended, .refused, .standing: break
        }
    }

    private mutating func begin(_ seq: Seq, _ bytes: [UInt8], _ tell: (Step) -> Void) {
        do {
            let value = try coder.decode(Value.self, from: bytes)
            isWaiting = false
            show(seq, value, tell)
        } catch {
            begin(doubting: .unreadable(seq, "\(error)"), tell)
        }
    }

    private mutating func begin(doubting doubt: StateDoubt, _ tell: (Step) -> Void) {
        isWaiting = true
        tell(.doubts(doubt))
    }

    private mutating func show(_ seq: Seq, _ value: Value, _ tell: (Step) -> Void) {
        current = (seq, value)
        tell(.shows(seq, value))
    }

    private mutating func apply(_ seq: Seq, _ hash: UInt64?, _ bytes: [UInt8], _ tell: (Step) -> Void) {
        guard !isWaiting, var value = current?.value else { return }
        do {
            try Delta.apply(bytes, to: &value)
        } catch {
            return begin(doubting: .differenceDoesNotFit(seq, "\(error)"), tell)
        }
        if let hash, let doubt = doubt(value, seq, hash) { return begin(doubting: doubt, tell) }
        show(seq, value, tell)
    }

    private mutating func apply(_ note: TransitionNote, _ history: History, _ tell: (Step) -> Void) {
        guard !isWaiting, let fold, var value = current?.value else { return }
        // The value is changed in place where nobody else holds it.
        current = nil
        let transition = Transition(seq: note.seq, time: note.time, seed: history.value)
        do {
            try fold(&value, note, transition)
        } catch {
            current = (Seq(note.seq.value &- 1), value)
            return begin(doubting: .unreadableEvent(note.seq, "\(error)"), tell)
        }
        show(note.seq, value, tell)
    }

    /// Nil: the hash is that of the value.
    private func doubt(_ value: Value, _ seq: Seq, _ hash: UInt64) -> StateDoubt? {
        guard !brokenRules.contains(.hashesAreCompared) else { return nil }
        var own = hash
        try? coder.withEncoding(of: value) { own = StableHash.fnv1a($0) }
        return own == hash ? nil : .otherHash(seq, own: own, reducer: hash)
    }

    /// Puts another value into the place of the current one: what a simulated fault of memory does.
    package mutating func damage(_ value: Value) {
        guard let current, !isWaiting else { return }
        self.current = (current.seq, value)
    }
}

/// Why a state is not shown, or one that was shown is fetched anew.
public enum StateDoubt: Error, Equatable, Sendable, CustomStringConvertible {
    case unreadable(Seq, String)
    case differenceDoesNotFit(Seq, String)
    case unreadableEvent(Seq, String)
    case otherHash(Seq, own: UInt64, reducer: UInt64)

    public var description: String {
        switch self {
        case .unreadable(let seq, let why): "the state at seq \(seq) cannot be read: \(why)"
        case .differenceDoesNotFit(let seq, let why):
            "the difference that makes the state at seq \(seq) does not fit: \(why); the state is fetched anew"
        case .unreadableEvent(let seq, let why):
            "the event at seq \(seq) cannot be read: \(why); the state is fetched anew"
        case .otherHash(let seq, let own, let reducer):
            "the state at seq \(seq) hashes to \(hexadecimal(own)), and the reducer's to \(hexadecimal(reducer)); the state"
                + " is fetched anew"
        }
    }
}
