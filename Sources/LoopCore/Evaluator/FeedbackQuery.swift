public import LoopCollections

/// The query of one feedback as a machine: it remembers its last requests and reports changes.
///
/// State and event are lent to it, because an evaluator has queries of many types. The evaluator guarantees that they fit.
package protocol ErasedQuery: Sendable {
    /// Sets the query's number and the coder that orders keys, before the first `advance`.
    mutating func prepare(feedback: UInt32, coder: (any ValueCoder)?)

    /// Reports what changes with a transition of the query's `State` and `Event`.
    /// - Parameter event: the event, or empty for the initial state and for an evaluation without a transition.
    mutating func advance(
        state: borrowing Lent, event: borrowing Lent, seq: Seq, into changes: inout [EffectChange])

    /// Cancels every effect of the query, because its part of the state has gone.
    mutating func cancelAll(into changes: inout [EffectChange])

    /// The name of a key or request type that is not `Codable`, or nil if all are.
    var uncodable: String? { get }

    /// The memory that the query needs to continue in another process.
    func memory(_ coder: any ValueCoder) throws -> QueryMemory

    /// Continues from the memory of the same query at a state, after `prepare`.
    mutating func restore(_ memory: QueryMemory, state: borrowing Lent, coder: any ValueCoder) throws

    /// Takes over what is readable in the memory of another definition's query of this name. A request that cannot be read
    /// is cancelled, because it could not be fulfilled.
    mutating func adopt(_ memory: QueryMemory, coder: any ValueCoder, into changes: inout [EffectChange])

    /// Evaluates the query for the present state, without a transition.
    mutating func reconcile(
        state: borrowing Lent, seq: Seq, firstIndex: UInt32, into changes: inout [EffectChange])
}

extension ErasedQuery {
    static func cancel(_ effects: [EffectID], into changes: inout [EffectChange]) {
        for id in effects.sorted() { changes.append(.cancel(id)) }
    }
}

/// A query whose state and event types are known.
package protocol FeedbackQuery<State, Event>: ErasedQuery {
    associatedtype State: Sendable
    associatedtype Event: Sendable
}

/// A word in which another thread, or the next process, can read which query runs.
package struct QueryMark {
    private let words: SharedWords
    private let index: Int
    private let base: UInt64

    /// - Parameter base: the word's lowest byte. The position of the query is above it.
    package init(_ words: SharedWords, at index: Int, base: UInt8) {
        self.words = words
        self.index = index
        self.base = UInt64(base)
    }

    func begin(_ position: Int) { words[index] = base | UInt64(position) << 8 }
}

/// The queries of one evaluator, in the order of their feedbacks.
@usableFromInline
package struct QueryList: Sendable {
    var all: [any ErasedQuery] = []

    package init() {}

    @usableFromInline
    package var isEmpty: Bool { all.isEmpty }

    /// Evaluates every query after one transition. State and event are lent from their storage, without a copy.
    /// - Parameter mark: gets the position of each query before it runs.
    package mutating func advance<State, Event>(
        state: inout State, event: inout Event, seq: Seq, into changes: inout [EffectChange], mark: QueryMark?
    ) {
        // Lending takes some two hundred instructions if the types are not known.
        if isEmpty { return }
        lend(&event) { advance(state: &state, lent: $0, seq: seq, into: &changes, mark: mark) }
    }

    /// Evaluates every query after one transition whose event is already lent.
    /// - Parameter mark: gets the position of each query before it runs.
    @inline(__always)
    package mutating func advance<State>(
        state: inout State, lent event: borrowing Lent, seq: Seq, into changes: inout [EffectChange], mark: QueryMark?
    ) {
        lend(&state) { state in
            for position in 0..<all.count {
                mark?.begin(position)
                all[position].advance(state: state, event: event, seq: seq, into: &changes)
            }
        }
    }

    /// Evaluates every query after one transition whose state and event are already lent.
    @usableFromInline
    package mutating func advance(
        state: borrowing Lent, event: borrowing Lent, seq: Seq, into changes: inout [EffectChange]
    ) {
        for position in 0..<all.count {
            all[position].advance(state: state, event: event, seq: seq, into: &changes)
        }
    }
}
