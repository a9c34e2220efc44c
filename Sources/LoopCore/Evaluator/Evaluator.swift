public import LoopCollections

/// What a transition changes in what should be going on.
public enum EffectChange: Sendable {
    /// A new effect is to be started for this request.
    case start(EffectID, request: any Sendable)
    /// The same effect goes on with a newer request.
    case update(EffectID, request: any Sendable)
    /// The effect is to be cancelled: the state does not ask for it any more.
    case cancel(EffectID)
}

/// The one home of the meaning of every feedback: a pure machine that turns transitions into starts, updates and
/// cancellations of effects. The in-process loop, the reducer node and the simulator all run this one.
///
/// Feedbacks are told of a transition in the order in which they were declared; within a feedback cancellations come
/// before starts.
public struct Evaluator<State: Sendable, Event: Sendable>: Sendable {
    /// In code that is not specialised for `State` and `Event`, these are asked without looking up what an evaluator is.
    @usableFromInline package var queries = QueryList()

    /// The number of each query's feedback.
    private var numbers: [UInt32]

    /// - Parameters:
    ///   - feedbacks: in the order of their declaration; a feedback's number is its position unless `numbers` says
    ///     otherwise.
    ///   - numbers: the feedbacks' numbers in this journal.
    ///   - coder: orders the keys that start in one transition by their encoded bytes. Without one they are ordered
    ///     by their description.
    public init(feedbacks: [Feedback<State, Event>], numbers: [UInt32]? = nil, coder: (any ValueCoder)? = nil) {
        self.numbers = []
        if feedbacks.isEmpty { return }
        for (position, feedback) in feedbacks.enumerated() {
            guard var query = feedback.makeQuery?() else { continue }
            let number = numbers?[position] ?? UInt32(position)
            query.prepare(feedback: number, coder: coder)
            queries.all.append(query)
            self.numbers.append(number)
        }
    }

    /// No feedback derives requests.
    @inlinable
    package var isEmpty: Bool { queries.isEmpty }

    /// Evaluates every query after one transition, or once with no event for the initial state.
    @inlinable
    public mutating func advance(state: State, event: Event?, seq: Seq, into changes: inout [EffectChange]) {
        lend(state) { state in
            guard let event else { return queries.advance(state: state, event: Lent(), seq: seq, into: &changes) }
            lend(event) { queries.advance(state: state, event: $0, seq: seq, into: &changes) }
        }
    }
}

/// Memories: how an evaluator goes on in another process, and how one takes over from another definition's.
extension Evaluator {
    /// What every query remembers, by feedback number. Equal for evaluators that saw the same transitions.
    /// - Throws: what encoding a request or a key throws; `QueryMemoryError` where its type is not `Codable`.
    package func memory(_ coder: any ValueCoder) throws -> [UInt32: QueryMemory] {
        var memories: [UInt32: QueryMemory] = [:]
        for (position, number) in numbers.enumerated() { memories[number] = try queries.all[position].memory(coder) }
        return memories
    }

    /// Goes on from what an evaluator of the same feedbacks remembered at `state`: from here on both change alike.
    /// - Throws: `QueryMemoryError`, or what decoding throws, where a memory is not one of this definition.
    package mutating func restore(_ memories: [UInt32: QueryMemory], state: State, coder: any ValueCoder) throws {
        guard Set(memories.keys) == Set(numbers) else {
            throw QueryMemoryError("there are memories of \(memories.count) queries for \(numbers.count)")
        }
        try lend(state) { state in
            for (position, number) in numbers.enumerated() {
                if let memory = memories[number] {
                    try queries.all[position].restore(memory, state: state, coder: coder)
                }
            }
        }
    }

    /// Takes up what another definition's queries remember, as far as that can be read; a request or key that cannot be
    /// read is cancelled. Feedbacks without a memory are as in a loop that has not started. `reconcile` follows.
    package mutating func adopt(
        _ memories: [UInt32: QueryMemory], coder: any ValueCoder, into changes: inout [EffectChange]
    ) {
        for (position, number) in numbers.enumerated() {
            if let memory = memories[number] { queries.all[position].adopt(memory, coder: coder, into: &changes) }
        }
    }

    /// Asks every query for the state as it is, without a transition: what is wanted goes on, what is not is cancelled, and
    /// what is new starts. Kept keys are all told as updates; whoever knows their requests knows which are news.
    /// - Parameter firstIndex: of the effects that start now, beyond that of any effect that started at this seq.
    package mutating func reconcile(
        state: State, seq: Seq, firstIndex: UInt32, into changes: inout [EffectChange]
    ) {
        lend(state) { state in
            for position in queries.all.indices {
                queries.all[position].reconcile(state: state, seq: seq, firstIndex: firstIndex, into: &changes)
            }
        }
    }
}
