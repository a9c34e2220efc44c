/// A loop in this process: a state, a reducer and feedbacks.
///
/// It starts when it is made. It ends with `stop()`, when its definition has an outcome, or when it is released. Events are
/// reduced one at a time, in the order in which they were queued, by the thread that finds the queue idle. No code of the
/// caller runs under a lock, so a reducer, an effect or a reader of states may send, subscribe and stop.
public final class Loop<State: Sendable, Event: Sendable>: Sendable {
    /// The runtime of the loop, or nil if this is a scope of another loop.
    @usableFromInline let runtime: LoopRuntime<State, Event>?
    /// The runtime or the scope.
    let source: any LoopSource<State, Event>

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
        source = runtime
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
        source = runtime
        runtime.start()
    }

    init(scope: any LoopSource<State, Event>) {
        runtime = nil
        source = scope
    }

    deinit { runtime?.stop() }

    /// The state after the last event that was reduced.
    public var state: State { source.state }

    /// The number of the last transition; 0 before the first.
    public var seq: Seq { source.seq }

    /// The current state, then every later one without a gap.
    public var states: States<State> { States(subscribe: subscription) }

    /// Begins a subscription, which does not keep the loop alive.
    package var subscription: States<State>.Subscribe { source.subscription }

    /// A link to the loop that does not keep it alive.
    package var link: LoopLink<State, Event> { source.link }

    /// Queues one event. Without contention it is reduced before the return. From inside a reducer, an effect or a
    /// delivery, it is reduced after the current one. After the loop's end it does nothing.
    @inlinable
    public func send(_ event: Event) {
        if let runtime { runtime.queue(.event(event)) } else { sendThroughScope(event) }
    }

    @usableFromInline
    func sendThroughScope(_ event: Event) { withExtendedLifetime(self) { link.send(event) } }

    /// Sets a part of the state through the event queue. This publishes a state, bypasses the reducer, and gives feedbacks
    /// no event.
    public func mutate<Value: Sendable>(
        keyPath: any WritableKeyPath<State, Value> & Sendable, value: Value
    ) {
        mutate { $0[keyPath: keyPath] = value }
    }

    /// Changes the state by a closure, through the event queue.
    package func mutate(_ change: @escaping @Sendable (inout State) -> Void) {
        withExtendedLifetime(self) { link.mutate(change) }
    }

    /// Ends the loop: no more events are reduced, queued events are discarded, effects are cancelled, and the sequences of
    /// states end. From inside a delivery it takes effect before the next event.
    public func stop() { source.stop() }

    /// The loop's result, or nil until its definition has one.
    public var outcome: Outcome? { source.outcome }

    /// The effects that have failed for good, oldest first.
    public var parked: [ParkedEffect] { source.parked }

    /// How far the running effects that have reported it have come; see ``EffectContext/progress(_:_:)``.
    public var effectProgress: [EffectID: EffectProgress] { source.effectProgress }

    /// The phase of every live effect, including those that have completed and are still requested.
    package var phases: [EffectID: EffectPhase] { source.phases }

    /// Whether a thread reduces or delivers an event at this moment. It is false for a scope of another loop.
    package var isDraining: Bool { runtime?.isDraining ?? false }

    /// Retries a parked effect from the beginning. It returns false if there is no such parked effect.
    @discardableResult
    public func retryParked(_ id: EffectID) -> Bool { source.retryParked(id) }
}
