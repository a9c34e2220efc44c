/// A loop in this process: a state, a reducer and feedbacks.
///
/// It starts when it is made and ends with `stop()`, when its definition has an outcome, or when it is released. Events
/// are reduced one at a time, in the order in which they were queued, by whichever thread finds the queue idle; nothing
/// is called while a lock is held, so that a reducer, an effect or a reader of states may send, subscribe and stop.
public final class Loop<State: Sendable, Event: Sendable>: Sendable {
    /// Where the loop's work is done; nil: in the loop that it is a scope of.
    @usableFromInline let runtime: LoopRuntime<State, Event>?
    private let scope: LoopScope<State, Event>?

    /// A loop that starts now.
    /// - Parameters:
    ///   - initial: the state before the first event.
    ///   - reducer: folds events into the state.
    ///   - feedbacks: what runs while the state asks for it.
    ///   - clock: the time of retries, rates and timeouts; a test brings its own.
    ///   - seed: of the delays that are drawn at random.
    public init(
        initial: State, reducer: Reducer<State, Event>, feedbacks: [Feedback<State, Event>] = [],
        clock: some Clock<Duration> = ContinuousClock(), seed: UInt64 = .random(in: .min ... .max)
    ) {
        let runtime = LoopRuntime(
            name: "loop", initial: initial, reduce: .plain(reducer.body), outcome: nil,
            feedbacks: feedbacks.isEmpty ? [] : feedbacks.flatMap { $0.flattened }, clock: LoopClock(clock), seed: seed)
        self.runtime = runtime
        scope = nil
        runtime.start()
    }

    /// A loop that starts now, from a closure that changes the state.
    public convenience init(
        initial: State, reducer: @escaping @Sendable (inout State, Event) -> Void,
        feedbacks: [Feedback<State, Event>] = [], clock: some Clock<Duration> = ContinuousClock(),
        seed: UInt64 = .random(in: .min ... .max)
    ) {
        self.init(initial: initial, reducer: Reducer(reducer), feedbacks: feedbacks, clock: clock, seed: seed)
    }

    /// A loop that starts now, from a closure that returns the new state.
    public convenience init(
        initial: State, reduce: @escaping @Sendable (State, Event) -> State,
        feedbacks: [Feedback<State, Event>] = [], clock: some Clock<Duration> = ContinuousClock(),
        seed: UInt64 = .random(in: .min ... .max)
    ) {
        self.init(
            initial: initial, reducer: Reducer(returning: reduce), feedbacks: feedbacks, clock: clock, seed: seed)
    }

    /// A loop that runs a whole definition in this process, wherever its feedbacks are placed, and that ends when the
    /// definition has an outcome.
    public init<Definition: LoopDefinition>(
        _ definition: Definition, clock: some Clock<Duration> = ContinuousClock(),
        seed: UInt64 = .random(in: .min ... .max)
    ) where Definition.State == State, Definition.Event == Event {
        let runtime = LoopRuntime(
            name: Definition.name, initial: definition.initial, reduce: .informed { definition.reduce(&$0, $1, $2) },
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

    /// The current state, then every later one: of those that come after this call, none is missed.
    public var states: States<State> { States(subscribe: subscription) }

    /// Begins a subscription. It does not keep the loop alive.
    package var subscription: States<State>.Subscribe {
        switch seat {
        case .root(let runtime): { [weak runtime] in runtime?.subscribe($0) ?? AsyncStream { $0.finish() } }
        case .scope(let scope): scope.subscribe
        }
    }

    /// A way to the loop that does not keep it alive.
    package var link: LoopLink<State, Event> {
        switch seat {
        case .root(let runtime):
            LoopLink(
                state: { [weak runtime] in runtime?.state }, send: { [weak runtime] in runtime?.send($0) },
                mutate: { [weak runtime] in runtime?.mutate($0) })
        case .scope(let scope): scope.link
        }
    }

    /// Queues one event. Without contention it has been reduced when this returns; from inside a reducer, an effect or
    /// a delivery it is reduced after the current one. After the loop's end it does nothing.
    @inlinable
    public func send(_ event: Event) {
        if let runtime { runtime.send(event) } else { sendThroughScope(event) }
    }

    @usableFromInline
    func sendThroughScope(_ event: Event) { scope?.send(event) }

    /// Sets a part of the state through the same queue. It publishes a state, passes the reducer by, and shows feedbacks
    /// no event.
    public func mutate<Value: Sendable>(
        keyPath: any WritableKeyPath<State, Value> & Sendable, value: Value
    ) {
        mutate { $0[keyPath: keyPath] = value }
    }

    /// The same for a change that a closure makes.
    package func mutate(_ change: @escaping @Sendable (inout State) -> Void) {
        switch seat {
        case .root(let runtime): runtime.mutate(change)
        case .scope(let scope): scope.mutate(change)
        }
    }

    /// Ends the loop: nothing is reduced any more, queued events are discarded, effects are cancelled, the sequences of
    /// states end. From inside a delivery it takes effect before the next event.
    public func stop() {
        switch seat {
        case .root(let runtime): runtime.stop()
        case .scope(let scope): scope.stop()
        }
    }

    /// The loop's result, once its definition has one.
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

    /// How far the effects have come that run now and have said so; see ``EffectContext/progress(_:_:)``.
    public var effectProgress: [EffectID: EffectProgress] {
        switch seat {
        case .root(let runtime): runtime.effectProgress
        case .scope(let scope): scope.effectProgress()
        }
    }

    /// Where every live effect stands, those that have completed and are still asked for included.
    package var phases: [EffectID: EffectPhase] {
        switch seat {
        case .root(let runtime): runtime.phases
        case .scope(let scope): scope.phases()
        }
    }

    /// Tries a parked effect again from the beginning. False: there is no such parked effect.
    @discardableResult
    public func retryParked(_ id: EffectID) -> Bool {
        switch seat {
        case .root(let runtime): runtime.retryParked(id)
        case .scope(let scope): scope.retryParked(id)
        }
    }
}

/// Where a loop's work is done: in a runtime of its own, or in the one that it is a scope of.
enum LoopSeat<State: Sendable, Event: Sendable>: Sendable {
    case root(LoopRuntime<State, Event>)
    case scope(LoopScope<State, Event>)
}
