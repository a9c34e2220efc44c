/// What a transition changes in what should be going on.
public enum EffectChange: Sendable {
    case start(EffectID, request: any Sendable)
    /// The same effect goes on with a newer request.
    case update(EffectID, request: any Sendable)
    case cancel(EffectID)
}

/// The one home of the meaning of every feedback: a pure machine that turns transitions into starts, updates and
/// cancellations of effects. The in-process loop, the reducer node and the simulator all run this one.
///
/// Feedbacks are told of a transition in the order in which they were declared; within a feedback cancellations come
/// before starts.
public struct Evaluator<State: Sendable, Event: Sendable>: Sendable {
    private var queries: [any FeedbackQuery<State, Event>]

    /// - Parameters:
    ///   - feedbacks: in the order of their declaration; a feedback's number is its position unless `numbers` says
    ///     otherwise.
    ///   - numbers: the feedbacks' numbers in this journal.
    ///   - coder: orders the keys that start in one transition by their encoded bytes. Without one they are ordered
    ///     by their description.
    public init(feedbacks: [Feedback<State, Event>], numbers: [UInt32]? = nil, coder: (any ValueCoder)? = nil) {
        queries = []
        for (position, feedback) in feedbacks.enumerated() {
            guard var query = feedback.makeQuery?() else { continue }
            query.prepare(feedback: numbers?[position] ?? UInt32(position), coder: coder)
            queries.append(query)
        }
    }

    /// Evaluates every query after one transition, or once with no event for the initial state.
    public mutating func advance(state: State, event: Event?, seq: Seq, into changes: inout [EffectChange]) {
        for position in queries.indices {
            queries[position].advance(state: state, event: event, seq: seq, into: &changes)
        }
    }
}

/// One feedback's query as a machine: remembers what it last asked for, and says what changes.
package protocol FeedbackQuery<State, Event>: Sendable {
    associatedtype State: Sendable
    associatedtype Event: Sendable

    /// Tells the query its number, and how to order keys, before the first `advance`.
    mutating func prepare(feedback: UInt32, coder: (any ValueCoder)?)

    mutating func advance(state: State, event: Event?, seq: Seq, into changes: inout [EffectChange])

    /// Cancels what the query has started, because what it is a query of has gone.
    mutating func cancelAll(into changes: inout [EffectChange])
}
