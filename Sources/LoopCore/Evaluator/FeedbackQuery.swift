public import LoopCollections

/// One feedback's query as a machine: remembers what it last asked for, and says what changes.
///
/// State and event are lent to it: an evaluator asks queries of many types, which it alone knows to be of its own state and event.
package protocol ErasedQuery: Sendable {
    /// Tells the query its number, and how to order keys, before the first `advance`.
    mutating func prepare(feedback: UInt32, coder: (any ValueCoder)?)

    /// Says what changes with a transition of the query's `State` and `Event`.
    /// - Parameter event: empty: the state is the initial one, or is asked about without a transition.
    mutating func advance(
        state: borrowing Lent, event: borrowing Lent, seq: Seq, into changes: inout [EffectChange])

    /// Cancels what the query has started, because what it is a query of has gone.
    mutating func cancelAll(into changes: inout [EffectChange])

    /// The type of its keys, or of its requests, that no process but this one could read; nil: there is none.
    var uncodable: String? { get }

    /// What it must remember to go on elsewhere.
    func memory(_ coder: any ValueCoder) throws -> QueryMemory

    /// Goes on from what the same query remembered at a state, after `prepare`.
    mutating func restore(_ memory: QueryMemory, state: borrowing Lent, coder: any ValueCoder) throws

    /// Takes up what another definition's query of this name remembered, as far as that can be read. A request that cannot
    /// be read is cancelled: it could not be fulfilled.
    mutating func adopt(_ memory: QueryMemory, coder: any ValueCoder, into changes: inout [EffectChange])

    /// Asks for the state as it is, without a transition.
    mutating func reconcile(
        state: borrowing Lent, seq: Seq, firstIndex: UInt32, into changes: inout [EffectChange])
}

extension ErasedQuery {
    static func cancel(_ effects: [EffectID], into changes: inout [EffectChange]) {
        for id in effects.sorted() { changes.append(.cancel(id)) }
    }
}

/// A query whose state and event are known.
package protocol FeedbackQuery<State, Event>: ErasedQuery {
    associatedtype State: Sendable
    associatedtype Event: Sendable
}

/// Queries of one evaluator, in the order of their feedbacks.
@usableFromInline
package struct QueryList: Sendable {
    var all: [any ErasedQuery] = []

    package init() {}

    @usableFromInline
    package var isEmpty: Bool { all.isEmpty }

    /// Evaluates every query after one transition. State and event are lent from where they are kept, without a copy.
    package mutating func advance<State, Event>(
        state: inout State, event: inout Event, seq: Seq, into changes: inout [EffectChange]
    ) {
        // Lending takes some two hundred instructions where the types are not known.
        if isEmpty { return }
        lend(&event) { advance(state: &state, lent: $0, seq: seq, into: &changes) }
    }

    /// The same of an event that is lent already.
    package mutating func advance<State>(
        state: inout State, lent event: borrowing Lent, seq: Seq, into changes: inout [EffectChange]
    ) {
        lend(&state) { advance(state: $0, event: event, seq: seq, into: &changes) }
    }

    /// The same of both, lent already.
    @usableFromInline
    package mutating func advance(
        state: borrowing Lent, event: borrowing Lent, seq: Seq, into changes: inout [EffectChange]
    ) {
        for position in 0..<all.count {
            all[position].advance(state: state, event: event, seq: seq, into: &changes)
        }
    }
}
