internal import CBOR
public import LoopCore

/// A loop under test. The test sends events, answers effects, lets time pass, and asserts what happens.
///
/// ```swift
/// try TestLoop.run(Search()) { loop in
///     try loop.send(.typed("swift")) { $0.query = "swift" }
///     let fetch = try loop.expectStart("fetch", "swift")
///     try fetch.complete(sending: .found(3)) { $0.count = 3 }
/// }
/// ```
///
/// Whatever the test does not assert fails it: a changed field of the state, an event that an effect sent by itself, and each
/// start, update, cancellation, timeout and parking of an effect. The other modes require less.
///
/// It is the machinery of `Loop` without its tasks, threads and clock: the same queue, queries, limits, retries and timeouts.
/// Everything happens within the calls of the test, and is deterministic. The bodies of effects are not run, because the test
/// answers instead. Effects that only send events (`Effect.events`) send them by themselves. The bodies of `custom` and `input`
/// feedbacks are not run either. `send(_:from:)` sends their events. A `source` is an effect that starts with the loop.
///
/// Failures are thrown (``TestLoopFailure``), so a test ends at the first.
public final class TestLoop<State: Sendable, Event: Sendable> {
    /// What a test has to assert.
    public enum Mode: Sendable {
        /// Everything.
        case exhaustive
        /// Every event and every effect, but only those changes of states that the test gives.
        case withoutStates
        /// Nothing. What the test does assert must have happened, in any order and at any earlier time.
        case selective
    }

    var machine: TestMachine<State, Event>
    let mode: Mode
    private var isOver = false

    private init(_ machine: TestMachine<State, Event>, mode: Mode) {
        self.machine = machine
        self.mode = mode
    }

    // MARK: Running a test

    /// Tests a definition.
    /// - Parameters:
    ///   - definition: the loop to test.
    ///   - mode: what the test has to assert.
    ///   - state: the state to begin with, or nil for that of the definition.
    ///   - seq: the number of the transition before the test.
    ///   - seed: the seed for the delays of retries, and for the random numbers of the transitions.
    ///   - wallTime: the time of day at the start, for transitions.
    ///   - timeZones: the rules of the named time zones that schedules use, as POSIX writes them in `TZ`, such as
    ///     `["Europe/Berlin": "CET-1CEST,M3.5.0,M10.5.0/3"]`.
    ///   - file: the file of a failure.
    ///   - line: the line of a failure.
    ///   - test: the test, which begins when the initial state's effects have started.
    /// - Returns: what the test returns.
    /// - Throws: the first failure, or what the test throws.
    @discardableResult
    public static func run<Definition: LoopDefinition, Result>(
        _ definition: Definition, mode: Mode = .exhaustive, from state: State? = nil, after seq: Seq = .initial,
        seed: UInt64 = 0, wallTime: WallTime = WallTime(milliseconds: 0), timeZones: [String: String] = [:],
        file: StaticString = #fileID, line: UInt = #line, _ test: (TestLoop) throws -> Result
    ) throws -> Result where Definition.State == State, Definition.Event == Event {
        try run(mode, TestCall("TestLoop.run", file, line), test) { () throws(TestLoopError) in
            try TestMachine(
                name: Definition.name, initial: state ?? definition.initial, seq: seq,
                reduce: .informed { definition.reduce(into: &$0, $1, $2) }, outcome: { definition.outcome(of: $0) },
                answer: { definition.answer(to: $0, in: $1) }, feedbacks: definition.allFeedbacks, seed: seed,
                wallTime: wallTime, timeZones: timeZones)
        }
    }

    /// Tests a loop of parts.
    /// - Returns: what the test returns.
    /// - Throws: the first failure, or what the test throws.
    @discardableResult
    public static func run<Result>(
        initial: State, reducer: Reducer<State, Event>, feedbacks: [Feedback<State, Event>], mode: Mode = .exhaustive,
        seed: UInt64 = 0, wallTime: WallTime = WallTime(milliseconds: 0), timeZones: [String: String] = [:],
        file: StaticString = #fileID, line: UInt = #line, _ test: (TestLoop) throws -> Result
    ) throws -> Result {
        try run(mode, TestCall("TestLoop.run", file, line), test) { () throws(TestLoopError) in
            try TestMachine(
                name: "loop", initial: initial, reduce: reducer.body, outcome: { _ in nil },
                feedbacks: feedbacks.flatMap(\.flattened), seed: seed, wallTime: wallTime, timeZones: timeZones)
        }
    }

    private static func run<Result>(
        _ mode: Mode, _ call: TestCall, _ test: (TestLoop) throws -> Result,
        of machine: () throws(TestLoopError) -> TestMachine<State, Event>
    ) throws -> Result {
        let loop: TestLoop
        do {
            loop = TestLoop(try machine(), mode: mode)
        } catch {
            throw error.failure(of: call)
        }
        try loop.perform(call) { try $0.start() }
        let result = try test(loop)
        try loop.requireNothingPending("at the end of the test", call)
        loop.isOver = true
        return result
    }

    /// Reads a state, an event or a request as `loopctl` and the reducer's program print it.
    /// - Throws: an error that names the place if the text is no JSON of such a value.
    public static func decode<Value: Decodable>(_ json: String, as type: Value.Type = Value.self) throws -> Value {
        try CBOR.decode(type, from: CBOR.fromJSON(text: json))
    }

    // MARK: Properties

    /// The state after everything that has happened, asserted or not.
    public var state: State { machine.state }

    /// The number of the last transition, or 0 before the first.
    public var seq: Seq { machine.seq }

    /// How much time has passed.
    public var time: Duration { machine.time }

    /// The time of day, which decides when timers are due.
    public var wallTime: WallTime { machine.wall }

    /// The loop's outcome, once its definition has one.
    public var outcome: Outcome? { machine.outcome }

    /// The effects that have failed for good, the oldest first.
    public var parked: [ParkedEffect] { machine.parked }

    /// The effects of a feedback that run or wait, the oldest first.
    public func effects(_ feedback: String) -> [TestEffect<State, Event>] {
        let live = machine.effects.keys.sorted().filter { id in
            let phase = machine.phase(of: id)
            return machine.effects[id]?.feedback == feedback && (phase == .running || phase == .waiting)
        }
        return live.map { TestEffect(loop: self, id: $0) }
    }

    // MARK: Actions

    /// Sends an event as the owner of the loop would.
    /// - Parameters:
    ///   - event: the event to send.
    ///   - file: the file of a failure.
    ///   - line: the line of a failure.
    ///   - change: what the event changes in the state, applied to the state before it. Without it, nothing may change.
    /// - Throws: ``TestLoopFailure`` if the loop has ended, if the event changes the state differently than `change`, or if
    ///   something before it was not asserted. Also what `change` throws.
    public func send(
        _ event: Event, file: StaticString = #fileID, line: UInt = #line,
        _ change: ((inout State) throws -> Void)? = nil
    ) throws {
        try send(.event(event), TestCall("send(\(ValueText.of(event)))", file, line), change)
    }

    /// Sends an event instead of the body of a `custom` or `input` feedback, which is not run.
    /// - Throws: ``TestLoopFailure`` if there is no such feedback, or if its body does not run in this state. Also if the event
    ///   changes the state differently than `change`, or if something before it was not asserted. Also what `change` throws.
    public func send(
        _ event: Event, from feedback: String, file: StaticString = #fileID, line: UInt = #line,
        _ change: ((inout State) throws -> Void)? = nil
    ) throws {
        let call = TestCall("send(\(ValueText.of(event)), from: \"\(feedback)\")", file, line)
        try requireFeedback(feedback, call)
        guard machine.feedbacks.contains(where: { $0.name == feedback && $0.custom != nil }) else {
            throw call.failure("\"\(feedback)\" is no custom or input feedback: its effects send, see expectStart")
        }
        if machine.outcome == nil, !machine.isAttached(feedback) {
            throw call.failure("refused: the state has no part for \"\(feedback)\" now, and its body does not run")
        }
        try send(.event(event), call, change)
    }

    /// Changes one field as `Loop.mutate` does. The reducer is not called, and feedbacks see no event.
    /// - Throws: ``TestLoopFailure`` if the loop has ended, or if something before it was not asserted.
    public func mutate<Value: Sendable>(
        keyPath: any WritableKeyPath<State, Value> & Sendable, value: Value, file: StaticString = #fileID,
        line: UInt = #line
    ) throws {
        let call = TestCall("mutate", file, line)
        try send(.change { $0[keyPath: keyPath] = value }, call) { $0[keyPath: keyPath] = value }
    }

    /// - Returns: the state right after the input.
    @discardableResult
    func send(
        _ input: LoopInput<State, Event>, _ call: TestCall, _ change: ((inout State) throws -> Void)?
    ) throws -> State {
        try begin(call)
        let count = machine.log.count
        if let refusal = try perform(call, { try $0.send(input) }) { throw call.failure("\(refusal)") }
        return try takeTransition(after: count, change, call)
    }

    /// Lets time pass. Timers, delays of retries, limits of rates and timeouts take effect, each at its moment.
    /// - Throws: ``TestLoopFailure`` if `duration` is negative, if the loop has ended, or if something before it was not asserted.
    public func advance(by duration: Duration, file: StaticString = #fileID, line: UInt = #line) throws {
        let call = TestCall("advance(by: \(duration))", file, line)
        if duration < .zero { throw call.failure("time does not go back") }
        try begin(call)
        let time = machine.now + duration
        try perform(call) { try $0.advance(to: time) }
    }

    /// Lets time pass until the next moment at which something happens by itself.
    /// - Returns: the time that has passed.
    /// - Throws: ``TestLoopFailure`` if nothing waits for time, if the loop has ended, or if something before it was not asserted.
    @discardableResult
    public func advance(file: StaticString = #fileID, line: UInt = #line) throws -> Duration {
        let call = TestCall("advance()", file, line)
        try begin(call)
        guard let deadline = machine.nextDeadline else {
            throw call.failure("nothing waits for time: no timer, no retry, no rate, no timeout")
        }
        let before = machine.now
        try perform(call) { try $0.advance(to: deadline) }
        return machine.now - before
    }

    /// Lets time pass until nothing waits for it. Attempts that the test does not answer time out.
    /// - Throws: ``TestLoopFailure`` if something still waits after 100000 steps, if the loop has ended, or if something before it
    ///   was not asserted.
    public func run(file: StaticString = #fileID, line: UInt = #line) throws {
        let call = TestCall("run()", file, line)
        try begin(call)
        for _ in 0..<100_000 {
            guard let deadline = machine.nextDeadline else { return }
            try perform(call) { try $0.advance(to: deadline) }
        }
        throw call.failure("after 100000 steps, at \(time), something still waits for time; use advance(by:)")
    }

    // MARK: Rules of the calls

    /// Checks that the test has asserted everything before it does something.
    func begin(_ call: TestCall) throws {
        if isOver { throw call.failure("the test of this loop is over; everything happens within TestLoop.run") }
        try requireNothingPending("before it", call)
        if let outcome = machine.outcome {
            throw call.failure("the loop has ended (exit code \(outcome.exitCode)): nothing happens any more")
        }
    }

    func requireNothingPending(_ moment: String, _ call: TestCall) throws {
        guard mode != .selective, machine.log.contains(where: \.isRequired) else {
            if mode != .selective { machine.log = [] }
            return
        }
        throw call.failure("\(moment), this has happened and was not asserted:", pendingLines())
    }

    func requireFeedback(_ name: String, _ call: TestCall) throws {
        let names = machine.feedbacks.map(\.name)
        if names.contains(name) { return }
        let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
        throw call.failure("there is no feedback named \"\(name)\"; there are \(list)")
    }

    @discardableResult
    func perform<Result>(
        _ call: TestCall, _ action: (inout TestMachine<State, Event>) throws -> Result
    ) throws -> Result {
        do {
            return try action(&machine)
        } catch let error as TestLoopError {
            throw error.failure(of: call)
        }
    }

    /// The actions that were not asserted, in at most twenty lines.
    func pendingLines(where isMeant: (LoopAction<State, Event>) -> Bool = { $0.isRequired }) -> [String] {
        let pending = machine.log.filter(isMeant)
        let lines = pending.prefix(20).map { "\(machine.text(of: $0)) (\($0.assertion))" }
        return lines + (pending.count > 20 ? ["… and \(pending.count - 20) more"] : [])
    }
}
