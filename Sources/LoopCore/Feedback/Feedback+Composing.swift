// Feedbacks of a part of the loop in a loop of the whole. `part` qualifies their names: pulled back into the part "left",
// the feedback "search" is "left.search". Without it they keep their names. A name is not taken from a key path, because a
// key path's description differs between builds.

extension Feedback {
    /// Combines feedbacks into one. They get transitions in this order, and end together, with the loop or with the part
    /// that they are pulled back to. Each keeps its name, placement and policy. A modifier of the whole applies to each.
    public static func combine(_ feedbacks: Feedback...) -> Feedback { .combined(feedbacks) }

    /// This feedback in a loop whose state has this one as a part, and whose events have this one's as a case.
    /// - Parameters:
    ///   - part: qualifies the feedback's name: "part.name".
    ///   - value: the part of the whole state.
    ///   - event: the case of the whole's events.
    public func pullback<Whole: Sendable, WholeEvent: Sendable>(
        part: String? = nil, value: any KeyPath<Whole, State> & Sendable, event: CasePath<WholeEvent, Event>
    ) -> Feedback<Whole, WholeEvent> {
        pullback(
            part: part, value: { $0[keyPath: value] }, embedEvent: event.embed, extractEvent: event.extract)
    }

    /// This feedback in a loop whose state has this one as a case. When the state leaves the case, the effects are
    /// cancelled. When it enters the case again, the feedback starts over.
    public func pullback<Whole: Sendable, WholeEvent: Sendable>(
        part: String? = nil, value: CasePath<Whole, State>, event: CasePath<WholeEvent, Event>
    ) -> Feedback<Whole, WholeEvent> {
        pullback(
            part: part, optionalValue: value.extract, embedEvent: event.embed, extractEvent: event.extract)
    }

    /// This feedback in a loop whose state has this one as a part. Events for which `extract` returns nil are invisible to
    /// it and cancel nothing. A form that follows the state follows the part.
    public func pullback<Whole: Sendable, WholeEvent: Sendable>(
        part: String? = nil, value: @escaping @Sendable (Whole) -> State,
        embedEvent: @escaping @Sendable (Event) -> WholeEvent,
        extractEvent: @escaping @Sendable (WholeEvent) -> Event?
    ) -> Feedback<Whole, WholeEvent> {
        pullback(
            part: part, optionalValue: { value($0) }, embedEvent: embedEvent, extractEvent: extractEvent)
    }

    /// This feedback in a loop whose state has this one only at times: an optional part, or a case. When the part goes, its
    /// effects are cancelled. When it comes again, the feedback starts over.
    public func pullback<Whole: Sendable, WholeEvent: Sendable>(
        part: String? = nil, optionalValue: @escaping @Sendable (Whole) -> State?,
        embedEvent: @escaping @Sendable (Event) -> WholeEvent,
        extractEvent: @escaping @Sendable (WholeEvent) -> Event?
    ) -> Feedback<Whole, WholeEvent> {
        let kind: Feedback<Whole, WholeEvent>.Kind
        switch self.kind {
        case .effect(let effect):
            kind = .effect(effect.pullback(value: optionalValue, embedEvent: embedEvent, extractEvent: extractEvent))
        case .custom(let custom):
            kind = .custom(custom.pullback(value: optionalValue, embedEvent: embedEvent, extractEvent: extractEvent))
        case .timer(let timer):
            kind = .timer(timer.pullback(value: optionalValue, embedEvent: embedEvent, extractEvent: extractEvent))
        case .schedule(let schedule): kind = .schedule(schedule.map(embedEvent))
        case .combined(let parts):
            return .combined(
                parts.map {
                    $0.pullback(
                        part: part, optionalValue: optionalValue, embedEvent: embedEvent,
                        extractEvent: extractEvent)
                })
        }
        return Feedback<Whole, WholeEvent>(
            name: qualified(by: part).name, placement: placement, policy: policy, kind: kind, mistake: mistake)
    }

    /// This feedback for a state that may be absent.
    public func optional() -> Feedback<State?, Event> {
        pullback(optionalValue: { $0 }, embedEvent: { $0 }, extractEvent: { $0 })
    }

    /// This feedback, attached only while the predicate is true for the state. When it becomes false, the effects are
    /// cancelled. When it becomes true again, the feedback starts over, with the state of that moment and no event.
    public func autoconnect(
        followingChangesIn isOn: @escaping @Sendable (State) -> Bool
    ) -> Feedback {
        pullback(optionalValue: { isOn($0) ? $0 : nil }, embedEvent: { $0 }, extractEvent: { $0 })
    }
}

extension Array {
    /// These feedbacks, such as those of a definition, in a loop of the whole. Their state is a part of its state, their
    /// events are a case of its events.
    public func pullback<State, Event, Whole: Sendable, WholeEvent: Sendable>(
        part: String? = nil, value: any KeyPath<Whole, State> & Sendable, event: CasePath<WholeEvent, Event>
    ) -> [Feedback<Whole, WholeEvent>] where Element == Feedback<State, Event> {
        map { $0.pullback(part: part, value: value, event: event) }
    }

    /// These feedbacks in a loop whose state has theirs as a case. When the state leaves the case, their effects are
    /// cancelled. When it enters the case again, they start over.
    public func pullback<State, Event, Whole: Sendable, WholeEvent: Sendable>(
        part: String? = nil, value: CasePath<Whole, State>, event: CasePath<WholeEvent, Event>
    ) -> [Feedback<Whole, WholeEvent>] where Element == Feedback<State, Event> {
        map { $0.pullback(part: part, value: value, event: event) }
    }
}
