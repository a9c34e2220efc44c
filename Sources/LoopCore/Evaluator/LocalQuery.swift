/// The query of a feedback of a part, in a loop of the whole. Begins anew each time the part comes, and cancels what it
/// has started when the part goes.
package struct LocalQuery<Whole: Sendable, WholeEvent: Sendable, State: Sendable, Event: Sendable>: FeedbackQuery {
    private let makeBase: @Sendable () -> any FeedbackQuery<State, Event>
    private let value: @Sendable (Whole) -> State?
    private let extractEvent: @Sendable (WholeEvent) -> Event?
    private var feedback: UInt32 = 0
    private var coder: (any ValueCoder)?
    /// The part's own query, while the part is there.
    private var base: (any FeedbackQuery<State, Event>)?

    package init(
        makeBase: @escaping @Sendable () -> any FeedbackQuery<State, Event>,
        value: @escaping @Sendable (Whole) -> State?, extractEvent: @escaping @Sendable (WholeEvent) -> Event?
    ) {
        self.makeBase = makeBase
        self.value = value
        self.extractEvent = extractEvent
    }

    package mutating func prepare(feedback: UInt32, coder: (any ValueCoder)?) {
        self.feedback = feedback
        self.coder = coder
    }

    package mutating func advance(
        state: Whole, event: WholeEvent?, seq: Seq, into changes: inout [EffectChange]
    ) {
        guard let part = value(state) else {
            base?.cancelAll(into: &changes)
            base = nil
            return
        }
        if base != nil {
            let local = event.flatMap(extractEvent)
            base?.advance(state: part, event: local, seq: seq, into: &changes)
            return
        }
        // A part that has just come is like a loop that has just started: no event led to it.
        var query = makeBase()
        query.prepare(feedback: feedback, coder: coder)
        query.advance(state: part, event: nil, seq: seq, into: &changes)
        base = query
    }

    package mutating func cancelAll(into changes: inout [EffectChange]) {
        base?.cancelAll(into: &changes)
        base = nil
    }

    // MARK: Memory

    package var uncodable: String? { makeBase().uncodable }

    package func memory(_ coder: any ValueCoder) throws -> QueryMemory { .part(try base?.memory(coder)) }

    package mutating func restore(_ memory: QueryMemory, state: Whole, coder: any ValueCoder) throws {
        guard case .part(let remembered) = memory else { throw QueryMemoryError.otherForm }
        base = nil
        guard let remembered else { return }
        guard let part = value(state) else { throw QueryMemoryError("it remembers a part that is not there") }
        var query = makeBase()
        query.prepare(feedback: feedback, coder: self.coder)
        try query.restore(remembered, state: part, coder: coder)
        base = query
    }

    package mutating func adopt(_ memory: QueryMemory, coder: any ValueCoder, into changes: inout [EffectChange]) {
        var inner: QueryMemory? = memory
        if case .part(let part) = memory { inner = part }
        guard let inner else { return }
        var query = makeBase()
        query.prepare(feedback: feedback, coder: self.coder)
        query.adopt(inner, coder: coder, into: &changes)
        base = query
    }

    package mutating func reconcile(
        state: Whole, seq: Seq, firstIndex: UInt32, into changes: inout [EffectChange]
    ) {
        guard let part = value(state) else { return cancelAll(into: &changes) }
        var query = base ?? makeBase()
        if base == nil { query.prepare(feedback: feedback, coder: coder) }
        query.reconcile(state: part, seq: seq, firstIndex: firstIndex, into: &changes)
        base = query
    }
}
