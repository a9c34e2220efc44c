public import LoopCollections

/// A change that a transition makes to the effects that should be live.
@usableFromInline package enum EffectChange: Sendable {
    /// Start a new effect for this request.
    case start(EffectID, request: any Sendable)
    /// Continue the effect with a newer request.
    case update(EffectID, request: any Sendable)
    /// Cancel the effect, because the state no longer requests it.
    case cancel(EffectID)
}

/// A pure machine that turns transitions into starts, updates and cancellations of effects. It alone defines what a
/// feedback means: the in-process loop, the reducer node and the simulator all run it.
///
/// Feedbacks are evaluated in the order of their declaration. Within a feedback, cancellations come before starts.
@usableFromInline package struct Evaluator<State: Sendable, Event: Sendable>: Sendable {
    /// A list of a concrete type, because code that is not specialised for `State` and `Event` would have to look up the
    /// evaluator's own type.
    @usableFromInline package var queries = QueryList()

    /// The number of each query's feedback.
    private var numbers: [UInt32]

    /// - Parameters:
    ///   - feedbacks: the feedbacks in the order of their declaration. A feedback's number is its position unless `numbers`
    ///     says otherwise.
    ///   - numbers: the feedbacks' numbers in this journal.
    ///   - coder: encodes the keys that start in one transition, to order them by their bytes. Without one they are ordered
    ///     by their description.
    package init(feedbacks: [Feedback<State, Event>], numbers: [UInt32]? = nil, coder: (any ValueCoder)? = nil) {
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

    /// Whether no feedback derives requests.
    @inlinable
    package var isEmpty: Bool { queries.isEmpty }

    /// Evaluates every query after one transition, or once without an event for the initial state.
    @inlinable
    package mutating func advance(state: State, event: Event?, seq: Seq, into changes: inout [EffectChange]) {
        lend(state) { state in
            guard let event else { return queries.advance(state: state, event: Lent(), seq: seq, into: &changes) }
            lend(event) { queries.advance(state: state, event: $0, seq: seq, into: &changes) }
        }
    }
}

/// Memories: how an evaluator continues in another process, and takes over from another definition's evaluator.
extension Evaluator {
    /// The memory of every query, by feedback number. Equal for evaluators that have seen equal transitions.
    /// - Throws: what encoding a request or a key throws; `QueryMemoryError` if its type is not `Codable`.
    package func memory(_ coder: any ValueCoder) throws -> [UInt32: QueryMemory] {
        var memories: [UInt32: QueryMemory] = [:]
        for (position, number) in numbers.enumerated() { memories[number] = try queries.all[position].memory(coder) }
        return memories
    }

    /// Continues from the memories of an evaluator of the same feedbacks at `state`. From then on both make equal changes.
    /// - Throws: `QueryMemoryError`, or what decoding throws, if a memory does not fit this definition.
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

    /// Takes over the readable memories of another definition's queries. A request or key that cannot be read is cancelled.
    /// Feedbacks without a memory begin as in a new loop. A call of `reconcile` follows.
    package mutating func adopt(
        _ memories: [UInt32: QueryMemory], coder: any ValueCoder, into changes: inout [EffectChange]
    ) {
        for (position, number) in numbers.enumerated() {
            if let memory = memories[number] { queries.all[position].adopt(memory, coder: coder, into: &changes) }
        }
    }

    /// Evaluates every query for the present state, without a transition. Requested effects continue, others are cancelled, and new
    /// ones start. All kept keys are reported as updates, because only the caller knows which requests have changed.
    /// - Parameter firstIndex: the index of the first effect that starts now, beyond that of any effect that started at this seq.
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
