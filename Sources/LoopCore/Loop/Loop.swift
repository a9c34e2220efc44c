/// A loop in this process: a state, a reducer and feedbacks.
///
/// It starts when it is made. It ends with `stop()`, when its definition has an outcome, or when it is released. Events are
/// reduced one at a time, in the order in which they were queued, by the thread that finds the queue idle. No code of the
/// caller runs under a lock, so a reducer, an effect or a reader of states may send, subscribe and stop.
public final class Loop<State: Sendable, Event: Sendable>: Sendable {
    /// The runtime of the loop, or nil if this is a scope of another loop.
    @usableFromInline let runtime: LoopRuntime<State, Event>?
    private let scope: LoopScope<State, Event>?

    /// Creates and starts a loop.
    /// - Parameters:
    ///   - initial: the state before the first event.
    ///   - reducer: folds events into the state.
    ///   - feedbacks: the effects that run while the state requests them.
    ///   - clock: the clock for retries, rates and timeouts; a test passes its own.
    ///   - seed: the seed of delays that are drawn at random.
    public init(
        initial: State, reducer: Reducer<State, Event>, feedbacks: [Feedback<State, Event>] = [],
        clock: some Clock<Duration> = ContinuousClock(), seed: UInt64 = .random(in: .min ... .max)
    ) {
        let runtime = LoopRuntime(
            name: "loop", initial: initial, reduce: reducer.body, outcome: nil,
            feedbacks: feedbacks.isEmpty ? [] : feedbacks.flatMap { $0.flattened }, clock: LoopClock(clock), seed: seed)
        self.runtime = runtime
        scope = nil
        runtime.start()
    }

    /// Creates and starts a loop with a closure that changes the state.
    public convenience init(
        initial: State, reducer: @escaping @Sendable (inout State, Event) -> Void,
        feedbacks: [Feedback<State, Event>] = [], clock: some Clock<Duration> = ContinuousClock(),
        seed: UInt64 = .random(in: .min ... .max)
    ) {
        self.init(initial: initial, reducer: Reducer(reducer), feedbacks: feedbacks, clock: clock, seed: seed)
    }

    /// Creates and starts a loop with a closure that returns the new state.
    public convenience init(
        initial: State, reduce: @escaping @Sendable (State, Event) -> State,
        feedbacks: [Feedback<State, Event>] = [], clock: some Clock<Duration> = ContinuousClock(),
        seed: UInt64 = .random(in: .min ... .max)
    ) {
        self.init(
            initial: initial, reducer: Reducer(returning: reduce), feedbacks: feedbacks, clock: clock, seed: seed)
    }

    /// Runs a whole definition in this process, wherever its feedbacks are placed. The loop ends when the definition has an
    /// outcome.
    public init<Definition: LoopDefinition>(
        _ definition: Definition, clock: some Clock<Duration> = ContinuousClock(),
        seed: UInt64 = .random(in: .min ... .max)
    ) where Definition.State == State, Definition.Event == Event {
        let runtime = LoopRuntime(
            name: Definition.name, initial: definition.initial,
            reduce: .informed { definition.reduce(into: &$0, $1, $2) },
            outcome: { definition.outcome(of: $0) }, answer: { definition.answer(to: $0, in: $1) },
            feedbacks: definition.allFeedbacks, clock: LoopClock(clock), seed: seed)
        self.runtime = runtime
        scope = nil
        runtime.start()
    }

    init(scope: LoopScope<State, Event>) {
        runtime = nil
        self.scope = scope
    }

    var seat: LoopSeat<State, Event> {
        if let runtime { return .root(runtime) }
        guard let scope else { preconditionFailure("a loop has a runtime or is a scope") }
        return .scope(scope)
    }

    deinit { runtime?.stop() }

    /// The state after the last event that was reduced.
    public var state: State {
        switch seat {
        case .root(let runtime): runtime.state
        case .scope(let scope): scope.state()
        }
    }

    /// The number of the last transition; 0 before the first.
    public var seq: Seq {
        switch seat {
        case .root(let runtime): runtime.seq
        case .scope(let scope): scope.seq()
        }
    }

    /// The current state, then every later one without a gap.
    public var states: States<State> { States(subscribe: subscription) }

    /// Begins a subscription, which does not keep the loop alive.
    package var subscription: States<State>.Subscribe {
        switch seat {
        case .root(let runtime): { [weak runtime] in runtime?.subscribe($0) ?? AsyncStream { $0.finish() } }
        case .scope(let scope): scope.subscribe
        }
    }

    /// A link to the loop that does not keep it alive.
    package var link: LoopLink<State, Event> {
        switch seat {
        case .root(let runtime):
            LoopLink(
                state: { [weak runtime] in runtime?.state }, send: { [weak runtime] in runtime?.send($0) },
                mutate: { [weak runtime] in runtime?.mutate($0) })
        case .scope(let scope): scope.link
        }
    }

    /// Queues one event. Without contention it is reduced before the return. From inside a reducer, an effect or a
    /// delivery, it is reduced after the current one. After the loop's end it does nothing.
    @inlinable
    public func send(_ event: Event) {
        if let runtime { runtime.send(event) } else { sendThroughScope(event) }
    }

    @usableFromInline
    func sendThroughScope(_ event: Event) { scope?.send(event) }

    /// Sets a part of the state through the event queue. This publishes a state, bypasses the reducer, and gives feedbacks
    /// no event.
    public func mutate<Value: Sendable>(
        keyPath: any WritableKeyPath<State, Value> & Sendable, value: Value
    ) {
        mutate { $0[keyPath: keyPath] = value }
    }

    /// Changes the state by a closure, through the event queue.
    package func mutate(_ change: @escaping @Sendable (inout State) -> Void) {
        switch seat {
        case .root(let runtime): runtime.mutate(change)
        case .scope(let scope): scope.mutate(change)
        }
    }

    /// Ends the loop: no more events are reduced, queued events are discarded, effects are cancelled, and the sequences of
    /// states end. From inside a delivery it takes effect before the next event.
    public func stop() {
        switch seat {
        case .root(let runtime): runtime.stop()
        case .scope(let scope): scope.stop()
        }
    }

    /// The loop's result, or nil until its definition has one.
    public var outcome: Outcome? {
        switch seat {
        case .root(let runtime): runtime.outcome
        case .scope(let scope): scope.outcome()
        }
    }

    /// The effects that have failed for good, oldest first.
    public var parked: [ParkedEffect] {
        switch seat {
        case .root(let runtime): runtime.parked
        case .scope(let scope): scope.parked()
        }
    }

    /// How far the running effects that have reported it have come; see ``EffectContext/progress(_:_:)``.
    public var effectProgress: [EffectID: EffectProgress] {
        switch seat {
        case .root(let runtime): runtime.effectProgress
        case .scope(let scope): scope.effectProgress()
        }
    }

    /// The phase of every live effect, including those that have completed and are still requested.
    package var phases: [EffectID: EffectPhase] {
        switch seat {
        case .root(let runtime): runtime.phases
        case .scope(let scope): scope.phases()
        }
    }

    /// Retries a parked effect from the beginning. It returns false if there is no such parked effect.
    @discardableResult
    public func retryParked(_ id: EffectID) -> Bool {
        switch seat {
        case .root(let runtime): runtime.retryParked(id)
        case .scope(let scope): scope.retryParked(id)
        }
    }
}

/// Where a loop runs: in a runtime of its own, or as a scope of another loop.
enum LoopSeat<State: Sendable, Event: Sendable>: Sendable {
    case root(LoopRuntime<State, Event>)
    case scope(LoopScope<State, Event>)
}
