package import LoopCollections

/// The query of a part's feedback in a loop of the whole. It begins again each time the part appears, and cancels its
/// effects when the part goes.
package struct LocalQuery<State: Sendable, Event: Sendable, Part: Sendable, PartEvent: Sendable>: FeedbackQuery {
    private let makeBase: @Sendable () -> any FeedbackQuery<Part, PartEvent>
    private let value: @Sendable (State) -> Part?
    private let extractEvent: @Sendable (Event) -> PartEvent?
    private var feedback: UInt32 = 0
    private var coder: (any ValueCoder)?
    /// The part's own query, while the part exists.
    private var base: (any ErasedQuery)?

    package init(
        makeBase: @escaping @Sendable () -> any FeedbackQuery<Part, PartEvent>,
        value: @escaping @Sendable (State) -> Part?, extractEvent: @escaping @Sendable (Event) -> PartEvent?
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
        state: borrowing Lent, event: borrowing Lent, seq: Seq, into changes: inout [EffectChange]
    ) {
        guard let part = part(of: state) else { return cancelAll(into: &changes) }
        // A part that has just appeared is like a loop that has just started: no event led to it.
        let local = base == nil || event.isEmpty ? nil : event.read(as: Event.self, extractEvent)
        var query = base.take() ?? newBase()
        lend(part) { part in
            guard let local else { return query.advance(state: part, event: Lent(), seq: seq, into: &changes) }
            lend(local) { query.advance(state: part, event: $0, seq: seq, into: &changes) }
        }
        base = query
    }

    private func part(of state: borrowing Lent) -> Part? { state.read(as: State.self, value) }

    private func newBase() -> any ErasedQuery {
        var query = makeBase()
        query.prepare(feedback: feedback, coder: coder)
        return query
    }

    package mutating func cancelAll(into changes: inout [EffectChange]) {
        base?.cancelAll(into: &changes)
        base = nil
    }

    // MARK: Memory

    package var uncodable: String? { makeBase().uncodable }

    package func memory(_ coder: any ValueCoder) throws -> QueryMemory { .part(try base?.memory(coder)) }

    package mutating func restore(_ memory: QueryMemory, state: borrowing Lent, coder: any ValueCoder) throws {
        guard case .part(let remembered) = memory else { throw QueryMemoryError.otherForm }
        base = nil
        guard let remembered else { return }
        guard let part = part(of: state) else { throw QueryMemoryError("it remembers a part that is not there") }
        var query = newBase()
        try lend(part) { try query.restore(remembered, state: $0, coder: coder) }
        base = query
    }

    package mutating func adopt(_ memory: QueryMemory, coder: any ValueCoder, into changes: inout [EffectChange]) {
        var inner: QueryMemory? = memory
        if case .part(let part) = memory { inner = part }
        guard let inner else { return }
        var query = newBase()
        query.adopt(inner, coder: coder, into: &changes)
        base = query
    }

    package mutating func reconcile(
        state: borrowing Lent, seq: Seq, firstIndex: UInt32, into changes: inout [EffectChange]
    ) {
        guard let part = part(of: state) else { return cancelAll(into: &changes) }
        var query = base ?? newBase()
        lend(part) { query.reconcile(state: $0, seq: seq, firstIndex: firstIndex, into: &changes) }
        base = query
    }
}
