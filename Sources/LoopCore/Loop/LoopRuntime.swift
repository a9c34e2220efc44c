public import LoopLock

/// The shell around a loop in this process: hands events to whoever has the right to drain, runs effects as tasks, and
/// does outside of the lock what `LoopShared` says is to be done.
///
/// What every event passes is `@inlinable`, so that it is compiled for the loop's own types; what only some events need is
/// not.
@usableFromInline
final class LoopRuntime<State: Sendable, Event: Sendable>: @unchecked Sendable {
    @usableFromInline typealias Shared = LoopShared<State, Event>
    /// A custom feedback, and its run while it is attached.
    private struct Custom {
        let feedback: CustomFeedback<State, Event>
        var run: (CustomRun<State, Event>, token: UInt64)?
    }

    @usableFromInline let shared: Locked<Shared>
    /// The right to drain.
    @usableFromInline let gate = LoopGate()
    /// Only the thread that has the right to drain touches what is in it.
    @usableFromInline let turn: Exclusive<LoopTurn<State, Event>>
    /// Whether transitions ask for nothing but queries: there is no outcome and no custom feedback.
    @usableFromInline let isSimple: Bool
    /// Touched by the thread that has the right to drain alone.
    private var customs: [Custom]
    let feedbacks: [Feedback<State, Event>]
    private let outcomeOf: (@Sendable (State) -> Outcome?)?
    private let answerOf: (@Sendable (Event, State) -> (any Codable & Sendable)?)?
    let clock: LoopClock
    /// The time of day where it is not the system's.
    @usableFromInline let wallTime: (@Sendable () -> WallTime)?
    /// Whether there are timers: then the clocks are read where effects begin.
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

    /// A critical section that may queue something.
    func locked<Result>(_ body: (inout sending Shared) -> sending Result) -> sending Result {
        shared.withLock { shared in
            let result = body(&shared)
            if !shared.isQueueEmpty { gate.markPending() }
            return result
        }
    }

    // MARK: What the loop offers

    var state: State { shared.withLock { $0.state } }
    var seq: Seq { shared.withLock { $0.seq } }
    var outcome: Outcome? { shared.withLock { $0.outcome } }
    var parked: [ParkedEffect] { shared.withLock { $0.table.parked } }
    var phases: [EffectID: EffectPhase] { shared.withLock { $0.table.phases } }
    var effectProgress: [EffectID: EffectProgress] { shared.withLock { $0.runningProgress } }

    func start() {
        // Without feedbacks nothing follows from the initial state.
        if isSimple, !hasTimers, turn.withValue({ $0.evaluator.isEmpty }) { return }
        _ = gate.claimIdle(CurrentThread.identity)
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
        takeSteps()
    }

    private func apply(_ wishes: [LoopTurn<State, Event>.Wish]) -> Shared.Work {
        locked { [clock, hasTimers] shared in
            guard hasTimers else { return shared.apply(wishes, at: clock.now()) }
            let moment = clock.moment
            shared.see(moment)
            return shared.apply(wishes, at: moment.monotonic)
        }
    }

    /// The time of day in milliseconds.
    @inlinable
    func wallMilliseconds() -> Int64 { wallTime?().milliseconds ?? WallClock.milliseconds }

    @inlinable
    func send(_ event: Event) {
        let thread = CurrentThread.identity
        guard gate.claimIdle(thread) || gate.claimIdleSoon(thread) else { return queue(.event(event)) }
        let changes = turn.withValue { $0.advance(event) { wallMilliseconds() } }
        if !isSimple || !changes.isEmpty || !publishAndRelease() { finish(event, changes) }
    }

    func mutate(_ change: @escaping @Sendable (inout State) -> Void) { queue(.change(change)) }

    func stop() {
        let remains = shared.withLock { shared in
            gate.markEnded()
            return shared.stop()
        }
        guard let remains else { return }
        for waiter in remains.waiters { waiter.refuse(SendRefusal(.ended)) }
        for handle in remains.handles { handle.cancel() }
        for custom in remains.customs { custom.cancel() }
        remains.timer?.cancel()
        for subscriber in remains.subscribers { subscriber.states.finish() }
    }

    /// - Parameter onEnd: called when the reader has gone. Without it the subscription ends.
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

    /// Lets a loop that goes at the pace of its reader reduce one event, now or when there is one.
    func step() {
        shared.withLock { $0.isHeld = false }
        drain()
    }

    func retryParked(_ id: EffectID) -> Bool {
        guard let work = locked({ [clock] in $0.retryParked(id, at: clock.now()) }) else { return false }
        performAndDrain(work)
        return true
    }

    // MARK: Draining

    @inlinable
    func queue(_ input: LoopInput<State, Event>) {
        let mayDrain = shared.withLock { shared in
            if shared.isStopped { return false }
            shared.queue.append(Shared.Entry(input: input))
            return gate.claim(CurrentThread.identity, isPending: true)
        }
        if mayDrain { takeSteps() }
    }

    func drain() {
        if shared.withLock({ !$0.isStopped && !$0.isQueueEmpty && gate.claim(CurrentThread.identity, isPending: false) }
        ) {
            takeSteps()
        }
    }

    /// Does what a critical section outside of a drain has left to do. What is sent from inside of the effects that it
    /// starts is reduced afterwards, and not while the others have yet to start.
    func performAndDrain(_ work: Shared.Work) {
        let mayDrain = shared.withLock { !$0.isStopped && gate.claim(CurrentThread.identity, isPending: false) }
        perform(work)
        if mayDrain { takeSteps() } else { drain() }
    }

    /// Takes steps until the queue is empty, and gives the right to drain back in the same breath in which that was seen.
    @inlinable
    func takeSteps() {
        var step = shared.withLock { nextStep(&$0) }
        while let current = step {
            switch current {
            case .refuse(let entry):
                refuse(entry)
                step = shared.withLock { nextStep(&$0) }
            case .apply(let entry):
                let changes = turn.withValue { $0.advance(entry.input) { wallMilliseconds() } }
                if isSimple, changes.isEmpty, entry.waiter == nil {
                    let (isPublished, next) = shared.withLock { publishAndNext(&$0) }
                    step = next
                    if isPublished { continue }
                }
                deliver(entry, changes)
                step = shared.withLock { nextStep(&$0) }
            }
        }
    }

    @inlinable
    func nextStep(_ shared: inout Shared) -> Shared.Step? {
        if let step = shared.nextStep() { return step }
        gate.release(hasEnded: shared.isStopped)
        return nil
    }

    @usableFromInline
    func refuse(_ entry: Shared.Entry) { entry.waiter?.refuse(SendRefusal(.stale)) }

    /// Makes a transition visible for which no caller waits, and gives the right to drain back; false: that is not all there is
    /// to do.
    @inlinable
    func publishAndRelease() -> Bool {
        shared.withLock { shared in
            guard !shared.isStopped, shared.subscribers.isEmpty, shared.queue.isEmpty else { return false }
            turn.withValue { (shared.state, shared.seq) = ($0.state, $0.seq) }
            gate.release(hasEnded: false)
            return true
        }
    }

    /// Makes a transition visible for which no caller waits, and finds the next step under the same lock; false: a caller waits.
    @inlinable
    func publishAndNext(_ shared: inout Shared) -> (Bool, Shared.Step?) {
        guard !shared.isStopped, shared.subscribers.isEmpty else { return (false, nil) }
        turn.withValue { (shared.state, shared.seq) = ($0.state, $0.seq) }
        return (true, nextStep(&shared))
    }

    /// Delivers the transition of an event that was not queued, and takes the steps that follow.
    @usableFromInline
    func finish(_ event: Event, _ changes: [EffectChange]) {
        deliver(Shared.Entry(input: .event(event)), changes)
        takeSteps()
    }

    /// Makes a transition visible, tells all who follow, and does what the queries wish.
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
            entry.waiter?.refuse(SendRefusal(.ended))
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

    /// Tells who waits for it that an event was applied.
    private func tell(_ entry: Shared.Entry, _ state: State, _ seq: Seq) {
        switch entry.waiter {
        case .outcome(let continuation): continuation.resume(returning: .success(seq))
        case .answer(let continuation):
            var answer: (any Codable & Sendable)?
            if case .event(let event) = entry.input { answer = answerOf?(event, state) }
            continuation.resume(returning: .success(LoopAnswer(seq: seq, value: answer)))
        case nil: break
        }
    }

    // MARK: Effects

    /// Does what a critical section has left to do, and what follows from it. Does not drain.
    private func perform(_ work: Shared.Work) {
        var pending = [work]
        var position = 0
        while position < pending.count {
            let work = pending[position]
            position += 1
            for handle in work.cancelled { handle.cancel() }
            for (updates, request) in work.updated { updates.yield(request) }
            if let timer = work.timer { arm(timer) }
            for failure in work.failures { report(failure) }
            for due in work.due { fire(due.id, due.request) }
            for (feedback, run) in work.runs {
                if let event = feedbacks[feedback].schedule?.event(run) {
                    _ = locked { $0.enqueue(Shared.Entry(input: .event(event))) }
                }
            }
            for launch in work.launches { if let more = start(launch) { pending.append(more) } }
        }
    }

    /// Starts one attempt. An effect that only sends events has ended when this returns.
    private func start(_ launch: Shared.Launch) -> Shared.Work? {
        let (id, attempt) = (launch.effect.id, launch.effect.attempt)
        // One that was started just before it may have ended the loop.
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
            return locked { [clock] in
                $0.complete(id, attempt: attempt, sending: events, at: clock.now())
            }
        case .run, .task:
            let body = effect.work
            let send = self.send(as: .effect(id, attempt: attempt))
            // Detached: an effect inherits nothing from the thread that happened to drain.
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
        let work = locked { [clock] shared in
            guard let error else { return shared.complete(id, attempt: attempt, at: clock.now()) }
            return shared.fail(id, attempt: attempt, error: error, at: clock.now())
        }
        performAndDrain(work)
    }

    /// An effect has failed for good: its feedback may have an event to say so.
    private func report(_ failure: (id: EffectID, request: any Sendable, failure: EffectFailure)) {
        let event = feedbacks[Int(failure.id.feedback)].failureEvent?(failure.request, failure.failure)
        if let event { locked { $0.settle(failure.id, by: event) } }
    }

    /// A timer is due: its feedback has the event.
    private func fire(_ id: EffectID, _ request: any Sendable) {
        if let event = feedbacks[Int(id.feedback)].timer?.event(request) { _ = locked { $0.fire(id, event) } }
    }

    // MARK: Custom feedbacks

    /// Tells the custom feedbacks of a transition; only with the right to drain. Those whose part has gone end, those
    /// whose part has come begin with the state alone.
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
            // Detached, as an effect is. The end of its part of the state cancels it, or the loop's.
            let task = Task.detached(executorPreference: clock.executor) { await body() }
            if !shared.withLock({ $0.attachCustom(token, task: task) }) { task.cancel() }
        }
    }
}
