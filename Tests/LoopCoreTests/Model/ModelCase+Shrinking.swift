extension ModelCase {
    /// A small case that still makes a difference, found by taking away and simplifying as long as it does.
    /// - Parameter isFailing: whether a case makes a difference; asked `runsMax` times at most.
    func shrunk(runsMax: Int = 3000, where isFailing: (ModelCase) async -> Bool) async -> ModelCase {
        var best = self
        var runs = 0
        var isSmaller = true
        while isSmaller {
            isSmaller = false
            for candidate in best.simpler where candidate != best {
                runs += 1
                if runs > runsMax { return best }
                guard await isFailing(candidate) else { continue }
                best = candidate
                isSmaller = true
                break
            }
        }
        return best
    }

    /// Cases a little simpler than this one, the most daring first.
    private var simpler: [ModelCase] {
        var all: [ModelCase] = []
        for length in [steps.count / 2, steps.count / 4, 1] where length > 0 {
            for start in stride(from: 0, to: steps.count, by: length) {
                all.append(with { $0.steps.removeSubrange(start..<min(start + length, steps.count)) })
            }
        }
        for feedback in feedbacks.indices { all.append(without(feedback)) }
        for reaction in reactions.indices { all.append(with { $0.reactions.remove(at: reaction) }) }
        for (number, feedback) in feedbacks.enumerated() {
            for simple in feedback.simpler { all.append(with { $0.feedbacks[number] = simple }) }
        }
        for (number, reaction) in reactions.enumerated() {
            for simple in reaction.simpler { all.append(with { $0.reactions[number] = simple }) }
        }
        for (number, step) in steps.enumerated() {
            for simple in step.simpler { all.append(with { $0.steps[number] = simple }) }
        }
        for cell in 0...2 where initial[cell] > 0 { all.append(with { $0.initial[cell] -= 1 }) }
        return all
    }

    private func with(_ change: (inout ModelCase) -> Void) -> ModelCase {
        var copy = self
        change(&copy)
        return copy
    }

    /// The case without one feedback, and without what names it.
    private func without(_ feedback: Int) -> ModelCase {
        with { made in
            made.feedbacks.remove(at: feedback)
            made.steps = steps.compactMap { $0.renumbered { Self.number($0, without: feedback) } }
            made.reactions = reactions.compactMap { $0.renumbered { Self.number($0, without: feedback) } }
        }
    }

    private static func number(_ number: Int, without removed: Int) -> Int? {
        number == removed ? nil : number > removed ? number - 1 : number
    }
}

extension Put {
    fileprivate var simpler: [Put] {
        (value > 0 ? [Put(cell, value - 1)] : []) + (cell > 0 ? [Put(cell - 1, value)] : [])
    }
}

extension ModelFeedback {
    fileprivate var simpler: [ModelFeedback] {
        var all: [ModelFeedback] = []
        func add(_ change: (inout ModelFeedback) -> Void) {
            var copy = self
            change(&copy)
            copy.normalize()
            if copy != self { all.append(copy) }
        }
        for modifier in modifiers.indices { add { $0.modifiers.remove(at: modifier) } }
        add { $0.attempts = 1 }
        add { $0.isLimited = false }
        add { $0.failing = nil }
        add { $0.concurrency = nil }
        if case .events(let events) = body {
            for event in events.indices {
                add { feedback in
                    var fewer = events
                    fewer.remove(at: event)
                    feedback.body = .events(fewer)
                }
                for simple in events[event].simpler {
                    add { feedback in
                        var other = events
                        other[event] = simple
                        feedback.body = .events(other)
                    }
                }
            }
        }
        return all
    }
}

extension Reaction {
    fileprivate func renumbered(_ number: (Int) -> Int?) -> Reaction? {
        var copy = self
        if case .starting(let feedback) = place {
            guard let feedback = number(feedback) else { return nil }
            copy.place = .starting(feedback)
        }
        if case .sendAs(let feedback, let back, let event) = deed {
            guard let feedback = number(feedback) else { return nil }
            copy.deed = .sendAs(feedback, back: back, event)
        }
        return copy
    }

    fileprivate var simpler: [Reaction] {
        var all: [Reaction] = []
        if case .reducing(let event) = place { all += event.simpler.map { Reaction(.reducing($0), deed) } }
        switch deed {
        case .send(let event): all += event.simpler.map { Reaction(place, .send($0)) }
        case .sendAs(let feedback, let back, let event):
            all.append(Reaction(place, .send(event)))
            if back > 0 { all.append(Reaction(place, .sendAs(feedback, back: 0, event))) }
        case .stop, .subscribe: break
        }
        return all
    }
}

extension Step {
    fileprivate func renumbered(_ number: (Int) -> Int?) -> Step? {
        switch self {
        case .effect(let feedback, let back, let deed): number(feedback).map { .effect($0, back: back, deed) }
        case .custom(let feedback, let event): number(feedback).map { .custom($0, event) }
        case .input(let feedback, let event): number(feedback).map { .input($0, event) }
        case .retryParked(let feedback): number(feedback).map { .retryParked($0) }
        case .send, .mutate, .subscribe, .read, .advance, .stop: self
        }
    }

    fileprivate var simpler: [Step] {
        switch self {
        case .send(let event): event.simpler.map { .send($0) }
        case .mutate(let cell, let value): [.send(Put(cell, value))] + (value > 0 ? [.mutate(cell, value - 1)] : [])
        case .read(let reader, let event):
            (reader > 0 ? [.read(0, event)] : []) + event.simpler.map { .read(reader, $0) }
        case .effect(let feedback, let back, let deed):
            (back > 0 ? [.effect(feedback, back: 0, deed)] : [])
                + deed.simpler.map { .effect(feedback, back: back, $0) }
        case .custom(let feedback, let event): event.simpler.map { .custom(feedback, $0) }
        case .input(let feedback, let event): event.simpler.map { .input(feedback, $0) }
        case .subscribe, .advance, .retryParked, .stop: []
        }
    }
}

extension Step.Deed {
    fileprivate var simpler: [Step.Deed] {
        switch self {
        case .send(let events) where events.count > 1:
            events.indices.map { index in
                var fewer = events
                fewer.remove(at: index)
                return .send(fewer)
            }
        case .send(let events): events.flatMap(\.simpler).map { .send([$0]) }
        case .confirm(let event): event.simpler.map { .confirm($0) }
        case .complete, .fail, .takeUpdate: []
        }
    }
}
