/// The data that all threads of a loop share, under one lock. Every method is one critical section, whose result says what
/// to do outside of the lock.
@usableFromInline
package struct LoopShared<State: Sendable, Event: Sendable>: Sendable {
    @usableFromInline
    package struct Entry: Sendable {
        @usableFromInline package let input: LoopInput<State, Event>
        /// The effect that sent the event and the caller that waits for it, or nil if there is neither.
        @usableFromInline let origin: EventOrigin?
        /// Whether the effect that sent the event was cancelled while the event was queued. Such an event is refused.
        @usableFromInline package var isStale = false

        /// The effect that sent the event, or nil if no effect did and thus no effect's end removes it.
        package var source: EffectID? { origin?.effect }

        @inlinable
        init(_ input: LoopInput<State, Event>, _ origin: EventOrigin?) {
            self.input = input
            self.origin = origin
        }

        package init(input: LoopInput<State, Event>, source: EffectID? = nil) {
            self.init(input, source.map { EventOrigin(effect: $0) })
        }
    }

    /// The sender of an event.
    package enum Sender: Sendable {
        case effect(EffectID, attempt: Int)
        /// A run of a custom feedback, by its token.
        case custom(UInt64)
    }

    @usableFromInline
    package struct Subscriber: Sendable {
        var token: UInt64
        var states: AsyncStream<State>.Continuation
    }

    @usableFromInline package var state: State
    @usableFromInline package var seq = Seq.initial
    @usableFromInline package var outcome: Outcome?
    @usableFromInline package var isStopped = false
    /// Whether the loop runs at the pace of its one reader: after each transition it pauses until the reader requests another.
    @usableFromInline let isPaced: Bool
    @usableFromInline var isHeld: Bool
    package private(set) var table: EffectTable
    @usableFromInline var queue = EventQueue<Entry>()
    /// Whether a thread has the right to drain, which one thread has at a time.
    @usableFromInline var isDraining = false
    private var handles: [EffectID: Handle] = [:]
    @usableFromInline var subscribers: [Subscriber] = []
    private var nextToken: UInt64 = 0
    private var customs: [UInt64: CustomHandle] = [:]
    /// The newest report of each attempt that has made one. Some of these attempts may have ended.
    private var progress: [EffectID: (attempt: Int, report: EffectProgress)] = [:]
    private var timer: (deadline: MonotonicTime, task: Task<Void, Never>?)?
    private var timerGeneration: UInt64 = 0

    package init(state: State, table: EffectTable, isPaced: Bool = false) {
        self.state = state
        self.table = table
        self.isPaced = isPaced
        isHeld = isPaced
    }

    // MARK: Queue

    var queuedCount: Int { queue.count }

    /// The reason why a sender may not send, or nil if it may.
    package func refusal(of sender: Sender?) -> SendRefusal? {
        if isStopped { return SendRefusal(.ended) }
        switch sender {
        case .effect(let id, let attempt):
            if table.isRunning(id, attempt: attempt) { return nil }
            return SendRefusal(table.isLive(id) ? .attempt : .stale)
        case .custom(let token): return customs[token] == nil ? SendRefusal(.stale) : nil
        case nil: return nil
        }
    }

    /// Queues an entry, or returns why it is refused.
    package mutating func enqueue(_ entry: Entry) -> SendRefusal? {
        if isStopped { return SendRefusal(.ended) }
        queue.append(entry)
        return nil
    }

    /// Takes the right to drain. It returns false if another thread has it, or the loop has ended.
    @inlinable
    mutating func claim() -> Bool {
        if isDraining || isStopped { return false }
        isDraining = true
        return true
    }

    /// Queues an input, unless the caller is the next to drain and nothing is queued before.
    /// - Returns: whether the caller must claim the right to drain and reduce the input itself.
    @inlinable
    mutating func queueUnlessNext(_ input: LoopInput<State, Event>) -> Bool {
        if isStopped { return false }
        if !isDraining, !isHeld, queue.isEmpty { return true }
        queue.append(Entry(input, nil))
        return false
    }

    /// The next entry for the thread that has the right to drain. Gives the right back and returns nil if nothing is queued, or the
    /// loop is paused or has ended.
    @inlinable
    package mutating func next() -> Entry? {
        if mustRest() { return nil }
        guard var entry = queue.popFirst() else { return nil }
        if let origin = entry.origin { entry.isStale = isStale(origin) }
        return entry
    }

    /// Gives the right to drain back if nothing is queued, or the loop is paused or has ended.
    /// - Returns: whether the right was given back.
    @inlinable
    mutating func mustRest() -> Bool {
        guard isStopped || isHeld || queue.isEmpty else { return false }
        isDraining = false
        return true
    }

    @usableFromInline
    func isStale(_ origin: EventOrigin) -> Bool { origin.effect.map { !table.isLive($0) } ?? false }

    // MARK: Transitions

    /// Publishes a transition. It returns false if the loop has been stopped meanwhile.
    @discardableResult
    @inlinable
    package mutating func commit(state: State, seq: Seq, outcome: Outcome?) -> Bool {
        if isStopped { return false }
        self.state = state
        self.seq = seq
        self.outcome = outcome
        if isPaced { isHeld = true }
        return true
    }

    package mutating func apply(_ wishes: [LoopTurn<State, Event>.Wish], at now: MonotonicTime) -> Work {
        var work = Work()
        if isStopped || wishes.isEmpty && !table.hasTimers { return work }
        for wish in wishes {
            switch wish {
            case .start(let id, let request, let group, let priority):
                if let launch = table.begin(id, request: request, group: group, priority: priority, at: now) {
                    work.launches.append(prepare(launch))
                }
            case .update(let id, let request, let priority):
                if table.update(id, request: request, priority: priority), let handle = handles[id] {
                    work.updated.append((handle.updates, request))
                }
            case .cancel(let id):
                table.cancel(id)
                if let handle = handles.removeValue(forKey: id) { work.cancelled.append(handle) }
            }
        }
        proceed(&work, at: now)
        return work
    }

    // MARK: Effects

    /// Registers the task of an attempt. It returns false if the attempt is void; the caller must then cancel the task.
    mutating func attach(_ task: Task<Void, Never>, to id: EffectID, attempt: Int) -> Bool {
        guard table.isRunning(id, attempt: attempt), handles[id]?.attempt == attempt else { return false }
        handles[id]?.task = task
        return true
    }

    package mutating func complete(_ id: EffectID, attempt: Int, at now: MonotonicTime) -> Work {
        var work = Work()
        guard !isStopped, table.complete(id, attempt: attempt) else { return work }
        if let handle = handles.removeValue(forKey: id) { work.cancelled.append(handle) }
        proceed(&work, at: now)
        return work
    }

    /// Queues the events of an effect that only sends events, and completes it.
    package mutating func complete(
        _ id: EffectID, attempt: Int, sending events: [Event], at now: MonotonicTime
    ) -> Work {
        if table.isRunning(id, attempt: attempt) {
            for event in events { _ = enqueue(Entry(input: .event(event), source: id)) }
        }
        return complete(id, attempt: attempt, at: now)
    }

    package mutating func fail(_ id: EffectID, attempt: Int, error: any Error, at now: MonotonicTime) -> Work {
        var work = Work()
        if isStopped { return work }
        fail(id, attempt: attempt, error: error, at: now, into: &work)
        proceed(&work, at: now)
        return work
    }

    private mutating func fail(
        _ id: EffectID, attempt: Int, error: any Error, at now: MonotonicTime, into work: inout Work
    ) {
        switch table.fail(id, attempt: attempt, error: error, at: now) {
        case .none: return
        case .retry: break
        case .final(let request): work.occasions.append(.failure(id, request: request, EffectFailure(error)))
        }
        if let handle = handles.removeValue(forKey: id) { work.cancelled.append(handle) }
    }

    /// Queues the event of an occasion, which completes an effect that has failed, or a timer. An earlier event in the queue may
    /// still cancel a timer.
    /// - Returns: false if the timer was cancelled before.
    @discardableResult
    package mutating func enqueue(_ event: Event, of occasion: Occasion) -> Bool {
        var source: EffectID?
        switch occasion {
        case .failure(let id, _, _):
            table.settle(id)
            source = id
        case .timer(let id, _):
            guard !isStopped, table.fire(id) else { return false }
            source = id
        case .schedule: break
        }
        _ = enqueue(Entry(input: .event(event), source: source))
        return true
    }

    /// Whether there are timers, for which the clocks must be read before `apply` and `timerFired`.
    package var hasTimers: Bool { table.hasTimers }

    /// Takes a new reading of both clocks.
    package mutating func see(_ moment: Moment) { table.see(moment) }

    package mutating func retryParked(_ id: EffectID, at now: MonotonicTime) -> Work? {
        if isStopped || !table.retryParked(id) { return nil }
        var work = Work()
        proceed(&work, at: now)
        return work
    }

    package mutating func timerFired(
        generation: UInt64, at now: MonotonicTime, limit: (EffectID) -> Duration
    ) -> Work {
        var work = Work()
        if isStopped || generation != timerGeneration { return work }
        timer = nil
        for (id, attempt) in table.overdue(at: now) {
            fail(id, attempt: attempt, error: EffectFailure.timedOut(limit: limit(id)), at: now, into: &work)
        }
        if table.hasTimers {
            work.occasions += table.takeDue(at: now).map { Occasion.timer($0.id, request: $0.request) }
            work.occasions += table.takeDueRuns(at: now).map { Occasion.schedule(feedback: $0.feedback, $0.run) }
        }
        proceed(&work, at: now)
        return work
    }

    /// Notes how far the body of an attempt has come.
    mutating func report(_ report: EffectProgress, of id: EffectID, attempt: Int) {
        guard !isStopped, table.isRunning(id, attempt: attempt) else { return }
        progress[id] = (attempt, report)
        if progress.count > 2 * handles.count + 16 {
            progress = progress.filter { table.isRunning($0.key, attempt: $0.value.attempt) }
        }
    }

    /// The reports of the attempts that run now.
    var runningProgress: [EffectID: EffectProgress] {
        progress.filter { table.isRunning($0.key, attempt: $0.value.attempt) }.mapValues(\.report)
    }

    private mutating func prepare(_ launch: EffectTable.Launch) -> Launch {
        let (updates, continuation) = AsyncStream<any Sendable>.makeStream(bufferingPolicy: .bufferingNewest(1))
        handles[launch.id] = Handle(attempt: launch.attempt, task: nil, updates: continuation)
        return Launch(effect: launch, updates: updates)
    }

    /// Starts the effects that may start, and sets the next timer.
    private mutating func proceed(_ work: inout Work, at now: MonotonicTime) {
        while let launch = table.next(at: now) { work.launches.append(prepare(launch)) }
        guard let deadline = table.deadline(after: now) else {
            if let timer { work.timer = Timer(replaced: timer.task, deadline: nil, generation: timerGeneration) }
            timer = nil
            return
        }
        // A timer that is too early detects on its own that nothing is due.
        if let timer, timer.deadline <= deadline { return }
        timerGeneration += 1
        work.timer = Timer(replaced: timer?.task, deadline: deadline, generation: timerGeneration)
        timer = (deadline, nil)
    }

    /// Registers the task of a timer. It returns false if the timer was replaced already.
    mutating func attachTimer(_ task: Task<Void, Never>, generation: UInt64) -> Bool {
        guard !isStopped, generation == timerGeneration, timer != nil else { return false }
        timer?.task = task
        return true
    }

    // MARK: Subscribers

    mutating func subscribe(_ continuation: AsyncStream<State>.Continuation) -> UInt64? {
        if isStopped { return nil }
        nextToken += 1
        // The stream has no reader yet, so this resumes nothing.
        continuation.yield(state)
        subscribers.append(Subscriber(token: nextToken, states: continuation))
        return nextToken
    }

    mutating func unsubscribe(_ token: UInt64) { subscribers.removeAll { $0.token == token } }

    mutating func nextCustom() -> UInt64 {
        nextToken += 1
        return nextToken
    }

    /// Attaches a custom feedback. It returns false if the loop has ended.
    mutating func attachCustom(_ token: UInt64, finish: @escaping @Sendable () -> Void) -> Bool {
        if isStopped { return false }
        customs[token] = CustomHandle(finish: finish)
        return true
    }

    /// Registers the task of a custom feedback. It returns false if the feedback is no longer attached; the caller must
    /// then cancel the task.
    mutating func attachCustom(_ token: UInt64, task: Task<Void, Never>) -> Bool {
        if customs[token] == nil { return false }
        customs[token]?.task = task
        return true
    }

    mutating func detachCustom(_ token: UInt64) -> CustomHandle? { customs.removeValue(forKey: token) }

    // MARK: End

    /// Everything that must be ended together with the loop.
    package struct Remains: Sendable {
        var waiters: [EventOrigin]
        var handles: [Handle]
        var subscribers: [Subscriber]
        var customs: [CustomHandle]
        var timer: Task<Void, Never>?
    }

    /// Ends the loop, or returns nil if it has ended before.
    package mutating func stop() -> Remains? {
        if isStopped { return nil }
        isStopped = true
        let remains = Remains(
            waiters: queue.takeAll().compactMap(\.origin), handles: Array(handles.values), subscribers: subscribers,
            customs: Array(customs.values), timer: timer?.task)
        handles = [:]
        subscribers = []
        customs = [:]
        progress = [:]
        timer = nil
        table.cancelAll()
        return remains
    }
}
