public import LoopCore

/// The assertions of a test. Actions on effects because of one event may be asserted in any order, but those on one effect in the
/// order in which they happened. Events are asserted in their order.
extension TestLoop {
    // MARK: Events

    /// Asserts that an event was applied that an effect has sent by itself, or that reports the final failure of an effect.
    /// - Parameters:
    ///   - event: the event that was applied.
    ///   - file: the file of a failure.
    ///   - line: the line of a failure.
    ///   - change: what the event changes in the state. Without it, nothing may change.
    /// - Throws: ``TestLoopFailure`` if another event or none was applied, or if it changed the state differently than `change`.
    ///   Also what `change` throws.
    public func expectEvent(
        _ event: Event, file: StaticString = #fileID, line: UInt = #line,
        _ change: ((inout State) throws -> Void)? = nil
    ) throws {
        let call = TestCall("expectEvent(\(ValueText.of(event)))", file, line)
        let applied = machine.log.indices.filter { machine.log[$0].isTransition }
        let wanted = applied.first { index in
            guard case .applied(let other?, _, _, _) = machine.log[index].what else { return false }
            return SameValue.are(event, other)
        }
        guard let wanted, wanted == applied.first || mode == .selective else {
            guard let first = applied.first, case .applied(let other, _, _, _) = machine.log[first].what else {
                throw call.failure("no event was applied that was not asserted", notAsserted())
            }
            let difference = other.map { Difference(from: event, to: $0).lines } ?? []
            throw call.failure(
                "another event was applied (- expected, + happened)",
                difference + [machine.text(of: machine.log[first])])
        }
        try take(transitionAt: wanted, change, call)
    }

    /// Asserts that an effect's event was dropped, because the effect was cancelled before the event's turn.
    /// - Throws: ``TestLoopFailure`` if no such event was dropped.
    public func expectRefused(_ event: Event, file: StaticString = #fileID, line: UInt = #line) throws {
        let call = TestCall("expectRefused(\(ValueText.of(event)))", file, line)
        let index = machine.log.firstIndex { happening in
            guard case .refused(let other, _) = happening.what else { return false }
            return SameValue.are(event, other)
        }
        guard let index else { throw call.failure("no such event was dropped", notAsserted()) }
        machine.log.remove(at: index)
    }

    /// Asserts that the loop has ended, because its definition has an outcome.
    /// - Returns: the outcome.
    /// - Throws: ``TestLoopFailure`` if the loop has not ended, or if its end was asserted before.
    @discardableResult
    public func expectOutcome(file: StaticString = #fileID, line: UInt = #line) throws -> Outcome {
        try takeOutcome(TestCall("expectOutcome()", file, line))
    }

    /// Asserts that the loop has ended with this outcome.
    /// - Throws: ``TestLoopFailure`` if the loop has not ended, if its end was asserted before, or if the outcome is another one.
    public func expectOutcome(_ outcome: Outcome, file: StaticString = #fileID, line: UInt = #line) throws {
        let call = TestCall("expectOutcome", file, line)
        let other = try takeOutcome(call)
        if outcome == other { return }
        throw call.failure(
            "it is another outcome (- expected, + happened)", Difference(from: outcome, to: other).lines)
    }

    /// Asserts that everything that has happened was asserted.
    /// - Throws: ``TestLoopFailure`` with everything that was not asserted.
    public func expectNothing(file: StaticString = #fileID, line: UInt = #line) throws {
        let pending = pendingLines()
        if !pending.isEmpty { throw TestCall("expectNothing()", file, line).failure("this has happened:", pending) }
    }

    // MARK: Effects

    /// Asserts that an effect of a feedback has started, with any request. It takes the first one that was not asserted.
    /// - Throws: ``TestLoopFailure`` if no effect of the feedback has started that was not asserted.
    @discardableResult
    public func expectStart(
        _ feedback: String, file: StaticString = #fileID, line: UInt = #line
    ) throws -> TestEffect<State, Event> {
        try takeBegin(
            feedback, of: Wanted(text: "any request"), isStart: true,
            TestCall("expectStart(\"\(feedback)\")", file, line))
    }

    /// Asserts that an effect has started for this request.
    /// - Throws: ``TestLoopFailure`` if no such effect has started, or if its start was asserted before.
    @discardableResult
    public func expectStart<Request: Sendable>(
        _ feedback: String, _ request: Request, file: StaticString = #fileID, line: UInt = #line
    ) throws -> TestEffect<State, Event> {
        let call = TestCall("expectStart(\"\(feedback)\", \(ValueText.of(request)))", file, line)
        return try takeBegin(feedback, of: Wanted(request), isStart: true, call)
    }

    /// Asserts that an effect has started for a request that meets a condition. The type of the requests is that of the closure's
    /// parameter: `{ (page: Page) in page.number == 3 }`.
    /// - Throws: ``TestLoopFailure`` if no such effect has started, or if its start was asserted before.
    @discardableResult
    public func expectStart<Request: Sendable>(
        _ feedback: String, file: StaticString = #fileID, line: UInt = #line, where isMeant: (Request) -> Bool
    ) throws -> TestEffect<State, Event> {
        try withoutActuallyEscaping(isMeant) { isMeant in
            let call = TestCall("expectStart(\"\(feedback)\", where:)", file, line)
            return try takeBegin(feedback, of: Wanted(where: isMeant), isStart: true, call)
        }
    }

    /// Asserts that another attempt of the effect has started, after a failure or because its limits allow it.
    /// - Throws: ``TestLoopFailure`` if the effect has not started again, or if an earlier action on it was not asserted.
    public func expectStart(
        _ effect: TestEffect<State, Event>, file: StaticString = #fileID, line: UInt = #line
    ) throws {
        try take(effect, TestCall("expectStart(\(effect))", file, line), "has not started") {
            if case .started = $0 { true } else { false }
        }
    }

    /// Asserts that an effect is wanted for this request, and waits for the limits of its feedback.
    /// - Throws: ``TestLoopFailure`` if no such effect waits, or if that was asserted before.
    @discardableResult
    public func expectWaiting<Request: Sendable>(
        _ feedback: String, _ request: Request, file: StaticString = #fileID, line: UInt = #line
    ) throws -> TestEffect<State, Event> {
        let call = TestCall("expectWaiting(\"\(feedback)\", \(ValueText.of(request)))", file, line)
        return try takeBegin(feedback, of: Wanted(request), isStart: false, call)
    }

    /// Asserts that an effect of a feedback is wanted, for any request, and waits for the limits of its feedback.
    /// - Throws: ``TestLoopFailure`` if no effect of the feedback waits, or if that was asserted before.
    @discardableResult
    public func expectWaiting(
        _ feedback: String, file: StaticString = #fileID, line: UInt = #line
    ) throws -> TestEffect<State, Event> {
        let call = TestCall("expectWaiting(\"\(feedback)\")", file, line)
        return try takeBegin(feedback, of: Wanted(text: "any request"), isStart: false, call)
    }

    /// Asserts that a timer was set: the state requests it with this key and time. Another time of its key is another timer.
    /// - Throws: ``TestLoopFailure`` if no such timer was set, or if that was asserted before.
    @discardableResult
    public func expectTimer<Key: Hashable & Codable & Sendable>(
        _ feedback: String, for key: Key, at time: WallTime, file: StaticString = #fileID, line: UInt = #line
    ) throws -> TestEffect<State, Event> {
        let request = TimerRequest(key: key, time: time)
        let call = TestCall("expectTimer(\"\(feedback)\", \(ValueText.of(request)))", file, line)
        return try takeBegin(feedback, of: Wanted(request), isStart: false, call)
    }

    /// Asserts that a timer of a feedback was set, for any key and time. It takes the first one that was not asserted.
    /// - Throws: ``TestLoopFailure`` if no timer of the feedback was set, or if that was asserted before.
    @discardableResult
    public func expectTimer(
        _ feedback: String, file: StaticString = #fileID, line: UInt = #line
    ) throws -> TestEffect<State, Event> {
        let call = TestCall("expectTimer(\"\(feedback)\")", file, line)
        return try takeBegin(feedback, of: Wanted(text: "any key and time"), isStart: false, call)
    }

    /// Asserts that the effect continues with a newer request.
    /// - Throws: ``TestLoopFailure`` if the effect was given no newer request or another one, or if an earlier action on it was not
    ///   asserted.
    public func expectUpdate<Request: Sendable>(
        _ effect: TestEffect<State, Event>, _ request: Request, file: StaticString = #fileID, line: UInt = #line
    ) throws {
        let call = TestCall("expectUpdate(\(effect), \(ValueText.of(request)))", file, line)
        let index = try find(effect, call, "was given no newer request") {
            if case .updated = $0 { true } else { false }
        }
        guard case .updated(_, let other) = machine.log[index].what else { return }
        guard SameValue.are(request, other) else {
            throw call.failure(
                "it is another request (- expected, + happened)", Difference(from: request, to: other).lines)
        }
        machine.log.remove(at: index)
    }

    /// Asserts that the effect was cancelled, because the state no longer requests it.
    /// - Throws: ``TestLoopFailure`` if the effect was not cancelled, or if an earlier action on it was not asserted.
    public func expectCancel(
        _ effect: TestEffect<State, Event>, file: StaticString = #fileID, line: UInt = #line
    ) throws {
        try take(effect, TestCall("expectCancel(\(effect))", file, line), "was not cancelled") {
            if case .cancelled = $0 { true } else { false }
        }
    }

    /// Asserts that the attempt took longer than the policy allows, and counts as failed.
    /// - Throws: ``TestLoopFailure`` if the effect has not timed out, or if an earlier action on it was not asserted.
    public func expectTimeout(
        _ effect: TestEffect<State, Event>, file: StaticString = #fileID, line: UInt = #line
    ) throws {
        try take(effect, TestCall("expectTimeout(\(effect))", file, line), "has not timed out") {
            if case .timedOut = $0 { true } else { false }
        }
    }

    /// Asserts that the effect has failed for good, and its feedback has no event for that.
    /// - Throws: ``TestLoopFailure`` if the effect is not parked, or if an earlier action on it was not asserted.
    public func expectParked(
        _ effect: TestEffect<State, Event>, file: StaticString = #fileID, line: UInt = #line
    ) throws {
        try take(effect, TestCall("expectParked(\(effect))", file, line), "is not parked") {
            if case .parked = $0 { true } else { false }
        }
    }
}

// MARK: - How assertions find what they assert

extension LoopAction {
    var isTransition: Bool { if case .applied = what { true } else { false } }
}

/// The request that an assertion looks for.
private struct Wanted {
    let text: String
    let isMeant: (any Sendable) -> Bool
    /// The request for a difference, or nil if the test has not given one.
    var value: (any Sendable)?

    init(text: String) {
        self.text = text
        isMeant = { _ in true }
    }

    init<Request: Sendable>(_ request: Request) {
        text = ValueText.of(request)
        isMeant = { SameValue.are(request, $0) }
        value = request
    }

    init<Request: Sendable>(where isMeant: @escaping (Request) -> Bool) {
        text = "a \(Request.self) as described"
        self.isMeant = { ($0 as? Request).map(isMeant) ?? false }
    }
}

extension TestLoop {
    /// Takes the transition that the test's call caused directly.
    /// - Returns: the state right after it.
    @discardableResult
    func takeTransition(
        after count: Int, _ change: ((inout State) throws -> Void)?, _ call: TestCall
    ) throws -> State {
        guard let index = machine.log[count...].firstIndex(where: \.isTransition) else {
            throw call.failure("it was not applied, because the loop had ended")
        }
        guard case .applied(_, _, _, let after) = machine.log[index].what else { return state }
        try take(transitionAt: index, change, call)
        return after
    }

    private func take(
        transitionAt index: Int, _ change: ((inout State) throws -> Void)?, _ call: TestCall
    ) throws {
        guard case .applied(_, _, let before, let after) = machine.log.remove(at: index).what else { return }
        var expected = before
        try change?(&expected)
        if SameValue.are(expected, after) { return }
        if mode != .exhaustive {
            guard let change else { return }
            // The fields that the closure sets may already have these values.
            expected = after
            try change(&expected)
            if SameValue.are(expected, after) { return }
        }
        throw call.failure(
            change == nil
                ? "the state has changed, and no closure says how (- before, + after)"
                : "the state is not the expected one (- expected, + happened)",
            Difference(from: expected, to: after).lines)
    }

    private func takeOutcome(_ call: TestCall) throws -> Outcome {
        for (index, happening) in machine.log.enumerated() {
            guard case .ended(let outcome) = happening.what else { continue }
            machine.log.remove(at: index)
            return outcome
        }
        throw call.failure(
            machine.outcome == nil ? "the loop has not ended" : "the loop's end was asserted already", notAsserted())
    }

    /// The actions on effects that may be asserted now: those up to the next event, which must be asserted first.
    private var reach: Range<Int> {
        let next = mode == .selective ? nil : machine.log.firstIndex(where: \.isTransition)
        return machine.log.startIndex..<(next ?? machine.log.endIndex)
    }

    private func takeBegin(
        _ feedback: String, of wanted: Wanted, isStart: Bool, _ call: TestCall
    ) throws -> TestEffect<State, Event> {
        try requireFeedback(feedback, call)
        let all = machine.log.indices.filter { index in
            let id: EffectID
            switch machine.log[index].what {
            case .started(let started) where isStart: id = started
            case .waiting(let waiting) where !isStart: id = waiting
            case .set(let set) where !isStart: id = set
            default: return false
            }
            guard let facts = machine.effects[id], facts.feedback == feedback else { return false }
            return wanted.isMeant(facts.request)
        }
        let near = all.filter(reach.contains)
        let live = near.first { machine.log[$0].effect.flatMap(machine.phase) != nil }
        if let index = live ?? near.first, let id = machine.log[index].effect {
            machine.log.remove(at: index)
            return TestEffect(loop: self, id: id)
        }
        throw call.failure(
            isStart ? "no such effect has started" : "no such effect waits", begins(feedback, wanted, all.first))
    }

    /// The text about an effect that has not begun, with what there is instead.
    private func begins(_ feedback: String, _ wanted: Wanted, _ later: Int?) -> [String] {
        var lines: [String] = []
        if let later {
            lines.append("It has, after an event that is to be asserted first (expectEvent):")
            lines.append(machine.text(of: machine.log[later]))
            return lines + notAsserted()
        }
        let others = machine.log[reach].compactMap { happening -> EffectFacts? in
            switch happening.what {
            case .started(let id), .waiting(let id), .set(let id):
                machine.effects[id].flatMap { $0.feedback == feedback ? $0 : nil }
            default: nil
            }
        }
        if let value = wanted.value, others.count == 1, !wanted.isMeant(others[0].request) {
            let difference = Difference(from: value, to: others[0].request).lines
            lines += ["Another one of \"\(feedback)\" was (- expected, + happened):"] + difference.map { "  " + $0 }
        }
        for id in machine.effects.keys.sorted() where lines.isEmpty {
            guard let facts = machine.effects[id], facts.feedback == feedback, wanted.isMeant(facts.request) else {
                continue
            }
            let isNews = machine.log.contains { $0.effect == id && $0.isRequired }
            lines = ["The effect \(facts.text) \(isNews ? "" : "was asserted already: it ")\(facts.story)."]
        }
        return lines + notAsserted()
    }

    private func take(
        _ effect: TestEffect<State, Event>, _ call: TestCall, _ not: String,
        where isMeant: (LoopAction<State, Event>.What) -> Bool
    ) throws {
        machine.log.remove(at: try find(effect, call, not, where: isMeant))
    }

    /// The first action on the effect, which must be the expected one.
    private func find(
        _ effect: TestEffect<State, Event>, _ call: TestCall, _ not: String,
        where isMeant: (LoopAction<State, Event>.What) -> Bool
    ) throws -> Int {
        let own = machine.log.indices.filter { machine.log[$0].effect == effect.id }
        let near = own.filter(reach.contains)
        let first = near.first { machine.log[$0].isRequired || isMeant(machine.log[$0].what) }
        let index = mode == .selective ? own.first { isMeant(machine.log[$0].what) } : first
        if let index, isMeant(machine.log[index].what) { return index }
        var details: [String] = []
        if let index {
            details = ["Before that:", machine.text(of: machine.log[index]) + " (\(machine.log[index].assertion))"]
        } else if let later = own.first(where: { isMeant(machine.log[$0].what) }) {
            details = [
                "It was, after an event that is to be asserted first (expectEvent):",
                machine.text(of: machine.log[later]),
            ]
        } else {
            details = ["It \(effect.story)."]
        }
        throw call.failure("the effect \(not)", details + notAsserted(except: index))
    }

    /// The text of what has happened instead, for failures.
    private func notAsserted(except index: Int? = nil) -> [String] {
        let lines = pendingLines()
        return lines.isEmpty ? ["Nothing has happened that was not asserted."] : ["Not asserted yet:"] + lines
    }
}
