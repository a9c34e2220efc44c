/// The query of a feedback of a part, in a loop of the whole. Begins anew each time the part comes, and cancels what it
/// has started when the part goes.
package struct LocalQuery<State: Sendable, Event: Sendable, Part: Sendable, PartEvent: Sendable>: FeedbackQuery {
    private let makeBase: @Sendable () -> any FeedbackQuery<Part, PartEvent>
    private let value: @Sendable (State) -> Part?
    private let extractEvent: @Sendable (Event) -> PartEvent?
    private var feedback: UInt32 = 0
    private var coder: (any ValueCoder)?
    /// The part's own query, while the part is there.
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

    package mutating func advance(at transition: QueryTransition, into changes: inout [EffectChange]) {
        guard let part = part(of: transition.state) else { return cancelAll(into: &changes) }
        withUnsafePointer(to: part) { part in
            guard base != nil else {
                // A part that has just come is like a loop that has just started: no event led to it.
                base = newBase()
                base?.advance(at: QueryTransition(state: part, event: nil, seq: transition.seq), into: &changes)
                return
            }
            guard let event = transition.event?.assumingMemoryBound(to: Event.self).pointee,
                let local = extractEvent(event)
            else {
                base?.advance(at: QueryTransition(state: part, event: nil, seq: transition.seq), into: &changes)
                return
            }
            withUnsafePointer(to: local) { local in
                base?.advance(at: QueryTransition(state: part, event: local, seq: transition.seq), into: &changes)
            }
        }
    }

    private func part(of state: UnsafeRawPointer) -> Part? {
        value(state.assumingMemoryBound(to: State.self).pointee)
    }

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

    package mutating func restore(_ memory: QueryMemory, state: UnsafeRawPointer, coder: any ValueCoder) throws {
        guard case .part(let remembered) = memory else { throw QueryMemoryError.otherForm }
        base = nil
        guard let remembered else { return }
        guard let part = part(of: state) else { throw QueryMemoryError("it remembers a part that is not there") }
        var query = newBase()
        try withUnsafePointer(to: part) { try query.restore(remembered, state: $0, coder: coder) }
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
        at transition: QueryTransition, firstIndex: UInt32, into changes: inout [EffectChange]
    ) {
        guard let part = part(of: transition.state) else { return cancelAll(into: &changes) }
        var query = base ?? newBase()
        withUnsafePointer(to: part) { part in
            query.reconcile(
                at: QueryTransition(state: part, event: nil, seq: transition.seq), firstIndex: firstIndex,
                into: &changes)
        }
        base = query
    }
}
