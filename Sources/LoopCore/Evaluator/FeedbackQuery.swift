/// One feedback's query as a machine: remembers what it last asked for, and says what changes.
///
/// Its state and event are told by where they are in memory: an evaluator asks queries of many types, which it alone knows
/// to be of its own state and event.
package protocol ErasedQuery: Sendable {
    /// Tells the query its number, and how to order keys, before the first `advance`.
    mutating func prepare(feedback: UInt32, coder: (any ValueCoder)?)

    /// Says what changes with a transition of the query's `State` and `Event`.
    mutating func advance(at transition: QueryTransition, into changes: inout [EffectChange])

    /// Cancels what the query has started, because what it is a query of has gone.
    mutating func cancelAll(into changes: inout [EffectChange])

    /// The type of its keys, or of its requests, that no process but this one could read; nil: there is none.
    var uncodable: String? { get }

    /// What it must remember to go on elsewhere.
    func memory(_ coder: any ValueCoder) throws -> QueryMemory

    /// Goes on from what the same query remembered at a state, after `prepare`.
    /// - Parameter state: the address of one of the query's `State`.
    mutating func restore(_ memory: QueryMemory, state: UnsafeRawPointer, coder: any ValueCoder) throws

    /// Takes up what another definition's query of this name remembered, as far as that can be read. A request that cannot
    /// be read is cancelled: nobody could fulfil it.
    mutating func adopt(_ memory: QueryMemory, coder: any ValueCoder, into changes: inout [EffectChange])

    /// Asks for the state as it is, without a transition.
    mutating func reconcile(at transition: QueryTransition, firstIndex: UInt32, into changes: inout [EffectChange])
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

/// One transition as a query sees it, by where its state and event are in memory.
///
/// In code that is not specialised for a loop's types, an existential, an optional or an array of them is a type that has
/// to be looked up at run time, at every event; an address is not. The addresses are valid during the call that they are an
/// argument of.
@usableFromInline
package struct QueryTransition {
    /// Of the evaluator's `State`.
    @usableFromInline package let state: UnsafeRawPointer
    /// Of the evaluator's `Event`; nil: the state is the initial one, or is asked about without a transition.
    @usableFromInline package let event: UnsafeRawPointer?
    @usableFromInline package let seq: Seq

    @inlinable
    package init(state: UnsafeRawPointer, event: UnsafeRawPointer?, seq: Seq) {
        self.state = state
        self.event = event
        self.seq = seq
    }
}

/// Queries of one evaluator, in the order of their feedbacks.
@usableFromInline
package struct QueryList: Sendable {
    var all: [any ErasedQuery] = []

    package init() {}

    @usableFromInline
    package var isEmpty: Bool { all.isEmpty }

    /// Evaluates every query after one transition.
    /// - Parameters:
    ///   - state: of the evaluator's type.
    ///   - event: of the evaluator's type; nil: the state is the initial one.
    package mutating func advance<State, Event>(
        state: UnsafePointer<State>, event: UnsafePointer<Event>?, seq: Seq, into changes: inout [EffectChange]
    ) {
        advance(at: QueryTransition(state: state, event: event, seq: seq), into: &changes)
    }

    /// The same for who has the addresses of both already.
    @usableFromInline
    package mutating func advance(at transition: QueryTransition, into changes: inout [EffectChange]) {
        for position in 0..<all.count { all[position].advance(at: transition, into: &changes) }
    }
}
