internal import LoopCollections

/// The states of a loop that is made for each iteration, starts with it and ends with it.
///
/// The loop runs at the pace of its reader; see ``ColdStates``.
///
/// - Parameters:
///   - initial: the state before the first event.
///   - reduce: folds one event into the state.
///   - feedbacks: the sources of events. Without any, the states end after the initial one.
///   - clock: the clock for retries, rates and timeouts; a test passes its own.
public func system<State: Sendable, Event: Sendable>(
    initial: State, reduce: @escaping @Sendable (State, Event) -> State, feedbacks: [Feedback<State, Event>],
    clock: some Clock<Duration> = ContinuousClock()
) -> ColdStates<State> {
    system(initial: initial, reducer: Reducer(returning: reduce), feedbacks: feedbacks, clock: clock)
}

/// The form for a closure that changes the state.
public func system<State: Sendable, Event: Sendable>(
    initial: State, reducer: @escaping @Sendable (inout State, Event) -> Void, feedbacks: [Feedback<State, Event>],
    clock: some Clock<Duration> = ContinuousClock()
) -> ColdStates<State> {
    system(initial: initial, reducer: Reducer(reducer), feedbacks: feedbacks, clock: clock)
}

/// The form for a reducer.
public func system<State: Sendable, Event: Sendable>(
    initial: State, reducer: Reducer<State, Event>, feedbacks: [Feedback<State, Event>],
    clock: some Clock<Duration> = ContinuousClock()
) -> ColdStates<State> {
    ColdStates(initial: initial, reducer: reducer, feedbacks: feedbacks, clock: clock)
}

/// The states of a loop that is made for each iteration; another name of `system`.
public func feedbackLoop<State: Sendable, Event: Sendable>(
    initial: State, reduce: @escaping @Sendable (State, Event) -> State, feedbacks: [Feedback<State, Event>],
    clock: some Clock<Duration> = ContinuousClock()
) -> ColdStates<State> {
    system(initial: initial, reduce: reduce, feedbacks: feedbacks, clock: clock)
}

/// The form for a closure that changes the state.
public func feedbackLoop<State: Sendable, Event: Sendable>(
    initial: State, reducer: @escaping @Sendable (inout State, Event) -> Void, feedbacks: [Feedback<State, Event>],
    clock: some Clock<Duration> = ContinuousClock()
) -> ColdStates<State> {
    system(initial: initial, reducer: reducer, feedbacks: feedbacks, clock: clock)
}

/// The form for a reducer.
public func feedbackLoop<State: Sendable, Event: Sendable>(
    initial: State, reducer: Reducer<State, Event>, feedbacks: [Feedback<State, Event>],
    clock: some Clock<Duration> = ContinuousClock()
) -> ColdStates<State> {
    system(initial: initial, reducer: reducer, feedbacks: feedbacks, clock: clock)
}

/// A sequence of states that makes a loop for each iteration.
///
/// The loop starts when the first state is requested, and its reader gets every state. It runs at the pace of the reader:
/// an event is reduced only when the next state is requested. Thus states never pile up, and a loop whose effects send
/// without end does not run away. Effects run meanwhile, and their events wait. The loop ends with the iteration: when the
/// iterator is released, or when the task that waits for a state is cancelled.
public struct ColdStates<State: Sendable>: AsyncSequence, Sendable {
    /// Each element is one state of the loop.
    public typealias Element = State
    /// The sequence ends without an error.
    public typealias Failure = Never

    private let make: @Sendable () -> (run: ColdRun, states: AsyncStream<State>)

    init<Event: Sendable>(
        initial: State, reducer: Reducer<State, Event>, feedbacks: [Feedback<State, Event>],
        clock: some Clock<Duration>
    ) {
        make = {
            let feedbacks = feedbacks.flatMap(\.flattened)
            let runtime = LoopRuntime(
                name: "loop", initial: initial, reduce: reducer.body, outcome: nil, feedbacks: feedbacks,
                clock: LoopClock(clock), seed: .random(in: .min ... .max), isPaced: true)
            let states = runtime.subscribe(.unbounded, onEnd: { [weak runtime] in runtime?.stop() })
            return (ColdRun(runtime, hasEvents: !feedbacks.isEmpty), states)
        }
    }

    /// Makes a new loop for this iteration. The loop starts at the first call of `next`.
    public func makeAsyncIterator() -> Iterator {
        let (run, states) = make()
        return Iterator(run: run, states: states.makeAsyncIterator())
    }

    /// The iterator of a loop's states. The loop ends when it is released.
    public struct Iterator: AsyncIteratorProtocol {
        let run: ColdRun
        var states: AsyncStream<State>.Iterator

        /// Reduces one more event and waits for the state. The first call starts the loop and returns the initial state.
        /// - Returns: nil once the loop has ended, or the reading task is cancelled.
        public mutating func next() async -> State? {
            run.step()
            return await states.next()
        }
    }
}

/// The loop of one iteration, which ends when this is released.
final class ColdRun: Sendable {
    /// Starts the loop, or lets it reduce one more event.
    let step: @Sendable () -> Void
    private let stop: @Sendable () -> Void

    init<State: Sendable, Event: Sendable>(_ runtime: LoopRuntime<State, Event>, hasEvents: Bool) {
        let hasStarted = Locked(false)
        stop = { runtime.stop() }
        step = {
            let isFirst = hasStarted.withLock { hasStarted in
                defer { hasStarted = true }
                return !hasStarted
            }
            if !isFirst { return runtime.step() }
            runtime.start()
            if !hasEvents { runtime.stop() }
        }
    }

    deinit { stop() }
}
