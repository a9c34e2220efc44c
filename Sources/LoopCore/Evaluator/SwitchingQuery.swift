/// The query of every feedback with at most one live effect: the old effect is cancelled before the new one starts.
///
///     derive ──▶ unchanged                         nothing happens
///            ──▶ nothing                           cancel, forget
///            ──▶ wanted(request) ── renewal says   untouched, or cancel and start
package struct SwitchingQuery<State: Sendable, Event: Sendable, Request: Sendable>: FeedbackQuery {
    /// What a query wants after a transition.
    package enum Desire {
        case unchanged
        case nothing
        case wanted(Request)
    }

    /// Whether a request replaces the one before it.
    package enum Renewal: Sendable {
        /// Only a different request does (`skippingRepeated`).
        case whenDifferent(@Sendable (Request, Request) -> Bool)
        /// Every request does (`lensing`, `middleware`).
        case always
        /// None does, until the query has wanted nothing (`firstValueAfterNil`, `whenBecomesTrue`).
        case never
    }

    private let derive: @Sendable (State, Event?) -> Desire
    private let renewal: Renewal
    private var feedback: UInt32 = 0
    /// The last request that started an effect, and that effect, whether or not it has completed.
    private var current: (request: Request, id: EffectID)?

    package init(renewal: Renewal, derive: @escaping @Sendable (State, Event?) -> Desire) {
        self.renewal = renewal
        self.derive = derive
    }

    package mutating func prepare(feedback: UInt32, coder: (any ValueCoder)?) { self.feedback = feedback }

    package mutating func advance(state: State, event: Event?, seq: Seq, into changes: inout [EffectChange]) {
        switch derive(state, event) {
        case .unchanged:
            return
        case .nothing:
            cancelAll(into: &changes)
        case .wanted(let request):
            if let current {
                switch renewal {
                case .whenDifferent(let isSame) where isSame(current.request, request): return
                case .never: return
                case .whenDifferent, .always: changes.append(.cancel(current.id))
                }
            }
            let id = EffectID(feedback: feedback, seq: seq, index: 0)
            current = (request, id)
            changes.append(.start(id, request: request))
        }
    }

    package mutating func cancelAll(into changes: inout [EffectChange]) {
        if let current { changes.append(.cancel(current.id)) }
        current = nil
    }
}
