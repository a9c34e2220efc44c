internal import LoopLock

/// The shell around a loop in this process: hands events to whoever has the right to drain, runs effects as tasks, and
/// does outside of the lock what `LoopShared` says is to be done.
final class LoopRuntime<State: Sendable, Event: Sendable>: Sendable {
    typealias Shared = LoopShared<State, Event>

    /// A sending effect waits for its event to be applied while more than this are queued.
    private static var queuedEventsMax: Int { 1024 }

    /// Only the thread that has the right to drain touches what is in it; the lock in `shared`, under which that right
    /// changes hands, makes one thread's changes known to the next.
    private final class TurnBox: @unchecked Sendable {
        var turn: LoopTurn<State, Event>
        /// The custom feedbacks, and the runs of those that are attached.
        var customs: [(feedback: CustomFeedback<State, Event>, run: (CustomRun<State, Event>, token: UInt64)?)]

        init(_ turn: LoopTurn<State, Event>, _ customs: [CustomFeedback<State, Event>]) {
            self.turn = turn
            self.customs = customs.map { ($0, nil) }
        }
    }

    private let shared: Locked<Shared>
    private let box: TurnBox
    private let feedbacks: [Feedback<State, Event>]
    private let outcomeOf: @Sendable (State) -> Outcome?
    private let clock: LoopClock
    /// Begins the idempotency keys; another one for each run, whose effects have the same names.
    private let run: String

    init(
        name: String, initial: State, reduce: @escaping @Sendable (inout State, Event, Transition) -> Void,
        outcome: @escaping @Sendable (State) -> Outcome?, feedbacks: [Feedback<State, Event>], clock: LoopClock,
        seed: UInt64
    ) {
        var names: Set<String> = []
        for feedback in feedbacks {
            precondition(
                names.insert(feedback.name).inserted,
                "loop \(name) has two feedbacks named \(feedback.name); give each a name of its own")
        }
        self.feedbacks = feedbacks
        self.clock = clock
        outcomeOf = outcome
        run = "\(name)@\(String(seed, radix: 16))"
        let table = EffectTable(feedbacks: feedbacks.map { ($0.name, $0.policy) }, seed: seed)
        shared = Locked(Shared(state: initial, table: table))
        box = TurnBox(
            LoopTurn(initial: initial, reduce: reduce, feedbacks: feedbacks, seed: seed), feedbacks.compactMap(\.custom)
        )
    }

    // MARK: What the loop offers

    var state: State { shared.withLock { $0.state } }
    var seq: Seq { shared.withLock { $0.seq } }
    var outcome: Outcome? { shared.withLock { $0.outcome } }
    var parked: [ParkedEffect] { shared.withLock { $0.table.parked } }
    var phases: [EffectID: EffectPhase] { shared.withLock { $0.table.phases } }

    func start() {
        _ = shared.withLock { $0.claimTurn() }
        let initial = box.turn.state
        tellCustoms(initial, nil)
        let wishes = box.turn.advance(nil, wallMilliseconds: 0)
        let outcome = outcomeOf(initial)
        if let outcome {
            shared.withLock { _ = $0.commit(state: initial, seq: .initial, event: nil, outcome: outcome) }
            stop()
        }
        perform(shared.withLock { [clock] in $0.apply(wishes, at: clock.now()) })
        takeSteps()
    }

    func send(_ event: Event) { queue(.event(event)) }

    func mutate(_ change: @escaping @Sendable (inout State) -> Void) { queue(.change(change)) }

    func stop() {
        guard let remains = shared.withLock({ $0.stop() }) else { return }
        for waiter in remains.waiters { waiter.resume(returning: .failure(SendRefusal(.ended))) }
        for handle in remains.handles { handle.cancel() }
        for custom in remains.customs { custom.cancel() }
        remains.timer?.cancel()
        for subscriber in remains.subscribers { subscriber.states.finish() }
    }

    func subscribe(_ buffering: AsyncStream<State>.Continuation.BufferingPolicy) -> AsyncStream<State> {
        let (stream, continuation) = AsyncStream<State>.makeStream(bufferingPolicy: buffering)
        guard let token = shared.withLock({ $0.subscribe(continuation) }) else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.shared.withLock { $0.unsubscribe(token) } }
        return stream
    }

    func retryParked(_ id: EffectID) -> Bool {
        guard let work = shared.withLock({ [clock] in $0.retryParked(id, at: clock.now()) }) else { return false }
        performAndDrain(work)
        return true
    }

    // MARK: Draining

    private func queue(_ input: LoopInput<State, Event>) {
        let mayDrain = shared.withLock { shared in
            let refusal = shared.enqueue(Shared.Entry(input: input))
            return refusal == nil && shared.claimDrain()
        }
        if mayDrain { takeSteps() }
    }

    private func drain() {
        if shared.withLock({ $0.claimDrain() }) { takeSteps() }
    }

    /// Does what a critical section outside of a drain has left to do. What is sent from inside of the effects that it
    /// starts is reduced afterwards, and not while the others have yet to start.
    private func performAndDrain(_ work: Shared.Work) {
        let mayDrain = shared.withLock { $0.claimTurn() }
        perform(work)
        if mayDrain { takeSteps() } else { drain() }
    }

    /// Takes steps until the queue is empty; only with the right to drain.
    private func takeSteps() {
        while let step = shared.withLock({ $0.nextStep() }) {
            switch step {
            case .refuse(let entry): entry.waiter?.resume(returning: .failure(SendRefusal(.stale)))
            case .apply(let entry): apply(entry)
            }
        }
    }

    private func apply(_ entry: Shared.Entry) {
        let wishes = box.turn.advance(entry.input, wallMilliseconds: WallClock.milliseconds)
        let (state, seq) = (box.turn.state, box.turn.seq)
        let outcome = outcomeOf(state)
        let event: Event? = if case .event(let event) = entry.input { event } else { nil }
        let delivery = shared.withLock { $0.commit(state: state, seq: seq, event: event, outcome: outcome) }
        guard let delivery else {
            entry.waiter?.resume(returning: .failure(SendRefusal(.ended)))
            return
        }
        for subscriber in delivery.subscribers { subscriber.states.yield(state) }
        tellCustoms(state, event)
        entry.waiter?.resume(returning: .success(seq))
        if outcome != nil { return stop() }
        if !wishes.isEmpty { perform(shared.withLock { [clock] in $0.apply(wishes, at: clock.now()) }) }
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
            for launch in work.launches { if let more = start(launch) { pending.append(more) } }
        }
    }

    /// Starts one attempt. An effect that only sends events has ended when this returns.
    private func start(_ launch: Shared.Launch) -> Shared.Work? {
        let (id, attempt) = (launch.effect.id, launch.effect.attempt)
        // One that was started just before it may have ended the loop.
        if !shared.withLock({ $0.table.isRunning(id, attempt: attempt) }) { return nil }
        let context = EffectContext(
            id: id, failures: launch.effect.failures, isResumed: false, idempotencyKey: "\(run)/\(id)",
            updates: launch.updates)
        switch feedbacks[Int(id.feedback)].effect(launch.effect.request, context).body {
        case .events(let events):
            return shared.withLock { [clock] in
                $0.complete(id, attempt: attempt, sending: events, at: clock.now())
            }
        case .run(let body):
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
        let work = shared.withLock { [clock] shared in
            guard let error else { return shared.complete(id, attempt: attempt, at: clock.now()) }
            return shared.fail(id, attempt: attempt, error: error, at: clock.now())
        }
        performAndDrain(work)
    }

    /// An effect has failed for good: its feedback may have an event to say so.
    private func report(_ failure: (id: EffectID, request: any Sendable, error: any Error)) {
        let event = feedbacks[Int(failure.id.feedback)].failureEvent?(failure.request, failure.error)
        if let event { shared.withLock { $0.settle(failure.id, by: event) } }
    }

    // MARK: Time

    private func arm(_ timer: Shared.Timer) {
        timer.replaced?.cancel()
        guard let deadline = timer.deadline else { return }
        let generation = timer.generation
        let task = Task.detached(executorPreference: clock.executor) { [weak self, clock] in
            guard (try? await clock.sleep(deadline)) != nil else { return }
            self?.timerFired(generation)
        }
        if !shared.withLock({ $0.attachTimer(task, generation: generation) }) { task.cancel() }
    }

    private func timerFired(_ generation: UInt64) {
        let limits = feedbacks.map { $0.policy.timeout ?? .zero }
        let work = shared.withLock { [clock] shared in
            shared.timerFired(generation: generation, at: clock.now()) { limits[Int($0.feedback)] }
        }
        performAndDrain(work)
    }

    // MARK: Sending

    /// Tells the custom feedbacks of a transition; only with the right to drain. Those whose part has gone end, those
    /// whose part has come begin with the state alone.
    private func tellCustoms(_ state: State, _ event: Event?) {
        for index in box.customs.indices {
            if let (run, token) = box.customs[index].run {
                if run.tell(state, event) { continue }
                box.customs[index].run = nil
                shared.withLock { $0.detachCustom(token) }?.cancel()
            } else {
                attachCustom(index, state)
            }
        }
    }

    private func attachCustom(_ index: Int, _ state: State) {
        let token = shared.withLock { $0.nextCustom() }
        guard let run = box.customs[index].feedback.attach(state, send(as: .custom(token))),
            shared.withLock({ $0.attachCustom(token, finish: run.finish) })
        else { return }
        box.customs[index].run = (run, token)
        let task = Task.detached(executorPreference: clock.executor) { await run.body() }
        if !shared.withLock({ $0.attachCustom(token, task: task) }) { task.cancel() }
    }

    private func send(as sender: Shared.Sender) -> Send<Event> {
        Send { [weak self] event, confirmed throws(SendRefusal) in
            guard let self else { throw SendRefusal(.ended) }
            return try await self.submit(event, confirmed: confirmed, sender: sender)
        }
    }

    private func submit(
        _ event: Event, confirmed: Bool, sender: Shared.Sender
    ) async throws(SendRefusal) -> Seq {
        var entry = Shared.Entry(input: .event(event))
        if case .effect(let id, _) = sender { entry.source = id }
        if !confirmed {
            let isFull = shared.withLock { $0.queuedCount >= Self.queuedEventsMax }
            if !isFull {
                if let refusal = accept(entry, sender) { throw refusal }
                drain()
                return .initial
            }
        }
        let result = await withCheckedContinuation { [entry] continuation in
            var entry = entry
            entry.waiter = continuation
            if let refusal = accept(entry, sender) {
                continuation.resume(returning: .failure(refusal))
            } else {
                drain()
            }
        }
        return try result.get()
    }

    private func accept(_ entry: Shared.Entry, _ sender: Shared.Sender) -> SendRefusal? {
        shared.withLock { $0.refusal(of: sender) ?? $0.enqueue(entry) }
    }
}
