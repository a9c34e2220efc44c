public import LoopCollections

/// The shell around a loop in this process. It passes events to the thread that has the right to drain, and runs effects as
/// tasks. Outside of the lock, it does the work that `LoopShared` returns.
///
/// The path of every event is `@inlinable`, so that it is specialised for the loop's own types. The path of rarer events is not.
@usableFromInline
final class LoopRuntime<State: Sendable, Event: Sendable>: @unchecked Sendable {
    @usableFromInline typealias Shared = LoopShared<State, Event>
    /// A custom feedback, and its run while it is attached.
    private struct Custom {
        let feedback: CustomFeedback<State, Event>
        var run: (CustomRun<State, Event>, token: UInt64)?
    }

    @usableFromInline let shared: Locked<Shared>
    /// The state of a turn, accessed only by the thread that has the right to drain.
    @usableFromInline let turn: Exclusive<LoopTurn<State, Event>>
    /// Whether transitions involve only queries: there is no outcome and no custom feedback.
    @usableFromInline let isSimple: Bool
    /// Accessed only by the thread that has the right to drain.
    private var customs: [Custom]
    let feedbacks: [Feedback<State, Event>]
    private let outcomeOf: (@Sendable (State) -> Outcome?)?
    private let answerOf: (@Sendable (Event, State) -> (any Codable & Sendable)?)?
    let clock: LoopClock
    /// The time of day, or nil for the system's.
    @usableFromInline let wallTime: (@Sendable () -> WallTime)?
    /// Whether there are timers, for which the clocks must be read when effects begin.
    let hasTimers: Bool
    private let name: String
    private let seed: UInt64

    init(
        name: String, initial: State, reduce: LoopReduce<State, Event>,
        outcome: (@Sendable (State) -> Outcome?)?,
        answer: (@Sendable (Event, State) -> (any Codable & Sendable)?)? = nil, feedbacks: [Feedback<State, Event>],
        clock: LoopClock, seed: UInt64, isPaced: Bool = false
    ) {
        if let mistake = feedbacks.firstMistake() { fatalError("the loop \(name) cannot start: \(mistake)") }
        let feedbacks = feedbacks.distinctlyNamed()
        self.feedbacks = feedbacks
        self.clock = clock
        wallTime = clock.wallTime
        hasTimers = feedbacks.contains { $0.timer != nil || $0.schedule != nil }
        self.name = name
        self.seed = seed
        outcomeOf = outcome
        answerOf = answer
        customs = []
        for feedback in feedbacks { if let custom = feedback.custom { customs.append(Custom(feedback: custom)) } }
        isSimple = outcome == nil && customs.isEmpty
        let table = EffectTable(feedbacks: feedbacks, seed: seed, trust: clock.trust)
        shared = Locked(Shared(state: initial, table: table, isPaced: isPaced))
        turn = Exclusive(LoopTurn(initial: initial, reduce: reduce, feedbacks: feedbacks, seed: seed))
    }

    // MARK: Interface of the loop

    var state: State { shared.withLock { $0.state } }
    var seq: Seq { shared.withLock { $0.seq } }
    var outcome: Outcome? { shared.withLock { $0.outcome } }
    var parked: [ParkedEffect] { shared.withLock { $0.table.parked } }
    var phases: [EffectID: EffectPhase] { shared.withLock { $0.table.phases } }
    var isDraining: Bool { shared.withLock { $0.isDraining } }
    var effectProgress: [EffectID: EffectProgress] { shared.withLock { $0.runningProgress } }

    func start() {
        // Without feedbacks the initial state has no consequences.
        if isSimple, !hasTimers, turn.withValue({ $0.evaluator.isEmpty }) { return }
        _ = shared.withLock { $0.claim() }
        let initial = turn.withValue { $0.state }
        tellCustoms(initial, nil)
        let wishes = turn.withValue { turn in
            let changes = turn.advance(nil) { 0 }
            return turn.wishes(changes)
        }
        if let outcome = outcomeOf?(initial) {
            shared.withLock { _ = $0.commit(state: initial, seq: .initial, outcome: outcome) }
            stop()
        }
        if !wishes.isEmpty || hasTimers { perform(apply(wishes)) }
        drain()
    }

    private func apply(_ wishes: [LoopTurn<State, Event>.Wish]) -> Shared.Work {
        shared.withLock { [clock, hasTimers] shared in
            guard hasTimers else { return shared.apply(wishes, at: clock.now()) }
            let moment = clock.moment
            shared.see(moment)
            return shared.apply(wishes, at: moment.monotonic)
        }
    }

    /// The time of day in milliseconds.
    @inlinable
    func wallMilliseconds() -> Int64 { wallTime?().milliseconds ?? WallClock.milliseconds }

    /// Queues an input. The thread that finds no other draining reduces it before the return. After the loop's end it does nothing.
    @inlinable
    func queue(_ input: LoopInput<State, Event>) {
        let (isNext, mayDrain) = shared.withLock { ($0.queueUnlessNext(input), $0.claim()) }
        if mayDrain, !isNext || reduce(input, nil) { drain() }
    }

    func stop() {
        guard let remains = shared.withLock({ $0.stop() }) else { return }
        for waiter in remains.waiters { waiter.refuse(SendRefusal(.ended)) }
        for handle in remains.handles { handle.cancel() }
        for custom in remains.customs { custom.cancel() }
        remains.timer?.cancel()
        for subscriber in remains.subscribers { subscriber.states.finish() }
    }

    /// - Parameter onEnd: called when the reader has gone; by default the subscription ends.
    func subscribe(
        _ buffering: AsyncStream<State>.Continuation.BufferingPolicy, onEnd: (@Sendable () -> Void)? = nil
    ) -> AsyncStream<State> {
        let (stream, continuation) = AsyncStream<State>.makeStream(bufferingPolicy: buffering)
        guard let token = shared.withLock({ $0.subscribe(continuation) }) else {
            continuation.finish()
            return stream
        }
        let forget: @Sendable () -> Void = { [weak self] in self?.shared.withLock { $0.unsubscribe(token) } }
        let end = onEnd ?? forget
        continuation.onTermination = { _ in end() }
        return stream
    }

    /// Lets a loop that runs at the pace of its reader reduce one event, now or when there is one.
    func step() {
        let mayDrain = shared.withLock { shared in
            shared.isHeld = false
            return shared.claim()
        }
        if mayDrain { drain() }
    }

    func retryParked(_ id: EffectID) -> Bool {
        guard let work = shared.withLock({ [clock] in $0.retryParked(id, at: clock.now()) }) else { return false }
        performAndDrain(work)
        return true
    }

    // MARK: Draining

    /// Does the work that a critical section outside of a drain has returned. Events from the effects that start here are
    /// reduced after all of them have started.
    func performAndDrain(_ work: Shared.Work) {
        let mayDrain = shared.withLock { $0.claim() }
        perform(work)
        if mayDrain || shared.withLock({ $0.claim() }) { drain() }
    }

    /// Processes the queue until it is empty. The critical section that finds it empty also gives the right to drain back.
    @inlinable
    func drain() {
        while let entry = shared.withLock({ $0.next() }) {
            if entry.isStale {
                refuse(entry)
            } else if !reduce(entry.input, entry.origin) {
                return
            }
        }
    }

    /// Applies an input, and publishes the state.
    /// - Returns: whether this thread still has the right to drain.
    @inlinable
    func reduce(_ input: LoopInput<State, Event>, _ origin: EventOrigin?) -> Bool {
        let changes = turn.withValue { $0.advance(input) { wallMilliseconds() } }
        if isSimple, changes.isEmpty, origin == nil, let mustRest = shared.withLock({ publish(&$0) }) {
            return !mustRest
        }
        deliver(Shared.Entry(input, origin), changes)
        return true
    }

    @usableFromInline
    func refuse(_ entry: Shared.Entry) { entry.origin?.refuse(SendRefusal(.stale)) }

    /// Publishes a transition for which no caller waits.
    /// - Returns: whether the right to drain was given back; or nil if the loop has stopped or has subscribers.
    @inlinable
    func publish(_ shared: inout Shared) -> Bool? {
        guard !shared.isStopped, shared.subscribers.isEmpty else { return nil }
        turn.withValue { _ = shared.commit(state: $0.state, seq: $0.seq, outcome: nil) }
        return shared.mustRest()
    }

    /// Publishes a transition, notifies subscribers and the waiting caller, and makes the changes of the queries.
    @usableFromInline
    func deliver(_ entry: Shared.Entry, _ changes: [EffectChange]) {
        let (wishes, state, seq) = turn.withValue { turn in
            (changes.isEmpty ? [] : turn.wishes(changes), turn.state, turn.seq)
        }
        let outcome = outcomeOf?(state)
        let subscribers = shared.withLock { shared in
            shared.commit(state: state, seq: seq, outcome: outcome) ? shared.subscribers : nil
        }
        guard let subscribers else {
            entry.origin?.refuse(SendRefusal(.ended))
            return
        }
        for subscriber in subscribers { subscriber.states.yield(state) }
        if !customs.isEmpty {
            let event: Event? = if case .event(let event) = entry.input { event } else { nil }
            tellCustoms(state, event)
        }
        tell(entry, state, seq)
        if outcome != nil { return stop() }
        if !wishes.isEmpty { perform(apply(wishes)) }
    }

    /// Tells the waiting caller, if any, that its event was applied.
    private func tell(_ entry: Shared.Entry, _ state: State, _ seq: Seq) {
        guard let waiter = entry.origin?.waiter else { return }
        var answer: (any Codable & Sendable)?
        if waiter.wantsAnswer, case .event(let event) = entry.input { answer = answerOf?(event, state) }
        waiter.continuation.resume(returning: .success(LoopAnswer(seq: seq, value: answer)))
    }

    // MARK: Effects

    /// Does the work that a critical section has returned, and the work that follows from it. It does not drain.
    private func perform(_ work: Shared.Work) {
        var pending = [work]
        var position = 0
        while position < pending.count {
            let work = pending[position]
            position += 1
            for handle in work.cancelled { handle.cancel() }
            for (updates, request) in work.updated { updates.yield(request) }
            if let timer = work.timer { arm(timer) }
            for occasion in work.occasions {
                if let event = occasion.event(feedbacks) { shared.withLock { _ = $0.enqueue(event, of: occasion) } }
            }
            for launch in work.launches { if let more = start(launch) { pending.append(more) } }
        }
    }

    /// Starts one attempt. An effect that only sends events has ended on return.
    private func start(_ launch: Shared.Launch) -> Shared.Work? {
        let (id, attempt) = (launch.effect.id, launch.effect.attempt)
        // An effect that was started just before may have ended the loop.
        if !shared.withLock({ $0.table.isRunning(id, attempt: attempt) }) { return nil }
        let (name, seed) = (name, seed)
        let context = EffectContext(
            id: id, failures: launch.effect.failures, isResumed: false,
            idempotencyKey: "\(name)@\(String(seed, radix: 16))/\(id)",
            updates: launch.updates,
            report: { [weak self] progress in self?.shared.withLock { $0.report(progress, of: id, attempt: attempt) } })
        let effect = feedbacks[Int(id.feedback)].effect(launch.effect.request, context)
        switch effect.body {
        case .events(let events):
            return shared.withLock { [clock] in
                $0.complete(id, attempt: attempt, sending: events, at: clock.now())
            }
        case .run, .task:
            let body = effect.work
            let send = self.send(as: .effect(id, attempt: attempt))
            // Detached, because an effect must inherit nothing from the thread that happens to drain.
            let task = Task.detached(executorPreference: clock.executor) { [self] in
                do {
                    try await body(send)
                    end(id, attempt, nil)
                } catch {
                    end(id, attempt, error)
                }
            }
            if !shared.withLock({ $0.attach(task, to: id, attempt: attempt) }) { task.cancel() }
            return nil
        }
    }

    private func end(_ id: EffectID, _ attempt: Int, _ error: (any Error)?) {
        let work = shared.withLock { [clock] shared in
            guard let error else { return shared.complete(id, attempt: attempt, at: clock.now()) }
            return shared.fail(id, attempt: attempt, error: error, at: clock.now())
        }
        performAndDrain(work)
    }

    // MARK: Time

    func arm(_ timer: Shared.Timer) {
        timer.replaced?.cancel()
        guard let deadline = timer.deadline else { return }
        let generation = timer.generation
        // Detached, like an effect. The next timer or the loop's end cancels it.
        let task = Task.detached(executorPreference: clock.executor) { [weak self, clock] in
            guard (try? await clock.sleep(deadline)) != nil else { return }
            self?.timerFired(generation)
        }
        if !shared.withLock({ $0.attachTimer(task, generation: generation) }) { task.cancel() }
    }

    func timerFired(_ generation: UInt64) {
        let limits = feedbacks.map { $0.policy.timeout ?? .zero }
        let work = shared.withLock { [clock, hasTimers] shared in
            if hasTimers { shared.see(clock.moment) }
            return shared.timerFired(generation: generation, at: clock.now()) { limits[Int($0.feedback)] }
        }
        performAndDrain(work)
    }

    // MARK: Custom feedbacks

    /// Passes a transition to the custom feedbacks. Only the thread that has the right to drain calls this. A feedback
    /// whose part has gone ends; one whose part has come begins with the state alone.
    private func tellCustoms(_ state: State, _ event: Event?) {
        for index in customs.indices {
            if let (run, token) = customs[index].run {
                if run.tell(state, event) { continue }
                customs[index].run = nil
                shared.withLock { $0.detachCustom(token) }?.cancel()
            } else {
                attachCustom(index, state)
            }
        }
    }

    private func attachCustom(_ index: Int, _ state: State) {
        let token = shared.withLock { $0.nextCustom() }
        let port = CustomPort<Event>(
            send: send(as: .custom(token)), post: { [weak self] in self?.post($0, as: .custom(token)) },
            executor: clock.executor)
        guard let run = customs[index].feedback.attach(state, port),
            shared.withLock({ $0.attachCustom(token, finish: run.finish) })
        else { return }
        customs[index].run = (run, token)
        switch run.work {
        case .connection(let open): open()
        case .body(let body):
            // Detached, like an effect. The end of its part of the state or of the loop cancels it.
            let task = Task.detached(executorPreference: clock.executor) { await body() }
            if !shared.withLock({ $0.attachCustom(token, task: task) }) { task.cancel() }
        }
    }
}
