public import LoopCore

/// An effect of a loop under test. The test answers instead of its body.
public struct TestEffect<State: Sendable, Event: Sendable>: CustomStringConvertible {
    let loop: TestLoop<State, Event>
    /// The effect's name in the loop.
    public let id: EffectID

    // MARK: Properties

    /// The name of its feedback.
    public var feedback: String { facts.feedback }

    /// The newest request.
    public var request: any Sendable { facts.request }

    /// How many attempts had failed when the newest one began.
    public var failures: Int { facts.failures }

    /// Whether an attempt runs, which the test may answer.
    public var isRunning: Bool { loop.machine.phase(of: id) == .running }

    /// Whether it waits for its limits, or for its next try.
    public var isWaiting: Bool { loop.machine.phase(of: id) == .waiting }

    /// The name and the request.
    public var description: String { facts.text }

    /// The newest request, with its type.
    /// - Throws: ``TestLoopFailure`` if it is of another type.
    public func request<Request>(
        as type: Request.Type, file: StaticString = #fileID, line: UInt = #line
    ) throws -> Request {
        if let request = request as? Request { return request }
        throw TestCall("request(as: \(type))", file, line).failure(
            "the requests of \"\(feedback)\" are of type \(Swift.type(of: request))")
    }

    // MARK: Answers

    /// Makes the effect send an event.
    /// - Parameters:
    ///   - event: the event to send.
    ///   - file: the file of a failure.
    ///   - line: the line of a failure.
    ///   - change: what the event changes in the state. Without it, nothing may change.
    /// - Throws: ``TestLoopFailure`` if the event is refused, if it changes the state differently than `change`, or if something
    ///   before it was not asserted. Also what `change` throws.
    public func send(
        _ event: Event, file: StaticString = #fileID, line: UInt = #line,
        _ change: ((inout State) throws -> Void)? = nil
    ) throws {
        try send(event, TestCall("\(feedback).send(\(ValueText.of(event)))", file, line), change)
    }

    /// Makes the effect send an event that the loop refuses, such as one of a cancelled effect.
    /// - Throws: ``TestLoopFailure`` if the event is applied, if it is refused for another reason, or if something before it was
    ///   not asserted.
    public func send(
        _ event: Event, refused reason: SendRefusal.Reason, file: StaticString = #fileID, line: UInt = #line
    ) throws {
        let call = TestCall("\(feedback).send(\(ValueText.of(event)), refused: .\(reason))", file, line)
        try loop.requireNothingPending("before it", call)
        let refusal = try loop.perform(call) { try $0.send(.event(event), from: id) }
        guard let refusal else { throw call.failure("the event was applied: the effect \(facts.story)") }
        if refusal.reason == reason { return }
        throw call.failure("the reason is another one, .\(refusal.reason): the effect \(facts.story)")
    }

    /// Makes the effect complete.
    /// - Throws: ``TestLoopFailure`` if the effect does not run, or if something before it was not asserted.
    public func complete(file: StaticString = #fileID, line: UInt = #line) throws {
        let call = TestCall("\(feedback).complete()", file, line)
        try loop.begin(call)
        try requireRunning(call)
        try loop.perform(call) { try $0.complete(id) }
    }

    /// Makes the effect send its last event and complete. If the event leads to its cancellation, that needs no assertion.
    /// - Throws: ``TestLoopFailure`` if the event is refused, if it changes the state differently than `change`, or if something
    ///   before it was not asserted. Also what `change` throws.
    public func complete(
        sending event: Event, file: StaticString = #fileID, line: UInt = #line,
        _ change: ((inout State) throws -> Void)? = nil
    ) throws {
        let call = TestCall("\(feedback).complete(sending: \(ValueText.of(event)))", file, line)
        loop.machine.ending = id
        defer { loop.machine.ending = nil }
        try send(event, call, change, then: { if isRunning { try loop.perform(call) { try $0.complete(id) } } })
    }

    /// Makes the effect's body throw an error. The policy decides whether it is tried again.
    /// - Throws: ``TestLoopFailure`` if the effect does not run, or if something before it was not asserted.
    public func fail(_ error: any Error, file: StaticString = #fileID, line: UInt = #line) throws {
        let call = TestCall("\(feedback).fail(\(error))", file, line)
        try loop.begin(call)
        try requireRunning(call)
        try loop.perform(call) { try $0.fail(id, error) }
    }

    /// Tries a parked effect again from the beginning, as `Loop.retryParked` does.
    /// - Throws: ``TestLoopFailure`` if the effect is not parked, or if something before it was not asserted.
    public func retryParked(file: StaticString = #fileID, line: UInt = #line) throws {
        let call = TestCall("\(feedback).retryParked()", file, line)
        try loop.begin(call)
        if try loop.perform(call, { try $0.retryParked(id) }) { return }
        throw call.failure("it is not parked: it \(facts.story)")
    }

    // MARK: Details

    var story: String { facts.story }

    private var facts: EffectFacts {
        loop.machine.effects[id] ?? EffectFacts(feedback: "effect \(id)", request: "a request of another loop")
    }

    private func send(
        _ event: Event, _ call: TestCall, _ change: ((inout State) throws -> Void)?, then end: () throws -> Void = {}
    ) throws {
        try loop.begin(call)
        let count = loop.machine.log.count
        if let refusal = try loop.perform(call, { try $0.send(.event(event), from: id) }) {
            throw call.failure(
                "\(refusal)",
                ["The effect \(facts.text) \(facts.story). A test that means it says send(_:refused:)."])
        }
        try end()
        try loop.takeTransition(after: count, change, call)
    }

    private func requireRunning(_ call: TestCall) throws {
        if !isRunning { throw call.failure("the effect does not run", ["It \(facts.story)."]) }
    }
}
