public import LoopCore
import LoopWire

/// The states of a loop that runs elsewhere, and the seqs between them that are not shown, so that no gap is silent.
public struct EveryState<State: Sendable>: AsyncSequence, Sendable {
    /// A state, or a gap before one.
    public enum Element: Sendable {
        case state(seq: Seq, State)
        /// The states at these seqs are not shown.
        case missed(ClosedRange<Seq>)
    }

    let states: AsyncStream<(id: StateID, state: State)>

    /// Iterates over the states from the newest one on.
    public func makeAsyncIterator() -> Iterator { Iterator(states: states.makeAsyncIterator()) }

    /// Gives each state in order, and before it the seqs that are missing.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var states: AsyncStream<(id: StateID, state: State)>.Iterator
        private var last: StateID?
        /// The state that comes after the gap that was just returned.
        private var held: (seq: Seq, state: State)?

        fileprivate init(states: AsyncStream<(id: StateID, state: State)>.Iterator) { self.states = states }

        /// - Returns: the next element, or nil when the loop has ended.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            if let (seq, state) = held {
                held = nil
                return .state(seq: seq, state)
            }
            guard let (id, state) = await states.next(isolation: actor) else { return nil }
            defer { last = id }
            let seq = id.seq
            // No seq is missing before the first state of a history.
            guard let last, id.relation(to: last) == .reached, seq.value - last.seq.value > 1 else {
                return .state(seq: seq, state)
            }
            held = (seq, state)
            return .missed(last.seq.next...Seq(seq.value - 1))
        }
    }
}
