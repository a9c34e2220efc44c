internal import LoopCore

/// A loop without tasks, threads or clocks: the queue, the turns and the effect table of `Loop`, with a log of what happens. It
/// does not run the bodies of effects.
///
/// It takes the role of `Loop`'s shell. It decides nothing, but takes the shell's steps one after the other, in the same order.
struct TestMachine<State: Sendable, Event: Sendable> {
    typealias Shared = LoopShared<State, Event>
    typealias Action = LoopAction<State, Event>

    /// The number of transitions in one call from which a loop is assumed never to rest.
    private static var transitionsMax: Int { 20_000 }

    let feedbacks: [Feedback<State, Event>]
    private(set) var now = MonotonicTime.zero
    /// The actions that were not asserted yet.
    var log: [Action] = []
    private(set) var effects: [EffectID: EffectFacts] = [:]
    /// The effect that ends with its event. A cancellation by that event needs no assertion.
    var ending: EffectID?
    private var shared: Shared
    private var turn: LoopTurn<State, Event>
    private let outcomeOf: @Sendable (State) -> Outcome?
    /// The definition's answers, or nil if there is no definition.
    let answerOf: (@Sendable (Event, State) -> (any Codable & Sendable)?)?
    private let run: String
    private let wallTime: WallTime
    /// The attached custom feedbacks, by name.
    private var customs: [String: CustomRun<State, Event>] = [:]
    /// The numbers of the actions that report that an effect waits.
    private var waiting: [EffectID: Int] = [:]
    private var nextNumber = 0
    private var timer: (deadline: MonotonicTime, generation: UInt64)?
    /// The number of transitions since the test's last call.
    private var transitionsCount = 0

    init(
        name: String, initial: State, seq: Seq = .initial, reduce: LoopReduce<State, Event>,
        outcome: @escaping @Sendable (State) -> Outcome?,
        answer: (@Sendable (Event, State) -> (any Codable & Sendable)?)? = nil, feedbacks: [Feedback<State, Event>],
        seed: UInt64, wallTime: WallTime, timeZones: [String: String]
    ) throws(TestLoopError) {
        let feedbacks = feedbacks.distinctlyNamed()
        self.feedbacks = feedbacks
        outcomeOf = outcome
        answerOf = answer
        self.wallTime = wallTime
        run = "\(name)@\(String(seed, radix: 16))"
        let zones = try Self.zones(timeZones, for: feedbacks)
        shared = Shared(state: initial, table: EffectTable(feedbacks: feedbacks, seed: seed, zones: zones))
        shared.see(Moment(monotonic: .zero, wall: wallTime))
        turn = LoopTurn(initial: initial, reduce: reduce, feedbacks: feedbacks, seed: seed)
        (turn.seq, shared.seq) = (seq, seq)
    }

    // MARK: Properties

    var state: State { shared.state }
    var seq: Seq { shared.seq }
    var outcome: Outcome? { shared.outcome }
    var parked: [ParkedEffect] { shared.table.parked }
    var time: Duration { now - MonotonicTime.zero }
    /// The time of day.
    var wall: WallTime { wallTime + time }
    var nextDeadline: MonotonicTime? { timer?.deadline }

    /// Whether a custom feedback is attached and can send something.
    func isAttached(_ custom: String) -> Bool { customs[custom] != nil }

    func phase(of id: EffectID) -> EffectPhase? { shared.table.phase(of: id) }

    // MARK: Actions

    mutating func start() throws(TestLoopError) {
        let initial = turn.state
        tellCustoms(initial, nil)
        let changes = turn.advance(nil) { [wallTime] in wallTime.milliseconds }
        let wishes = turn.wishes(changes)
        if let outcome = outcomeOf(initial) {
            shared.commit(state: initial, seq: seq, outcome: outcome)
            end(outcome)
        }
        apply(wishes)
        if wishes.isEmpty, shared.hasTimers { perform(shared.apply([], at: now)) }
        try drain()
    }

    /// Returns nil if it was applied with everything that followed from it.
    mutating func send(_ input: LoopInput<State, Event>, from source: EffectID? = nil) throws(TestLoopError)
        -> SendRefusal?
    {
        transitionsCount = 0
        let entry = Shared.Entry(input: input, source: source)
        let sender = source.map { Shared.Sender.effect($0, attempt: effects[$0]?.attempt ?? 0) }
        if let refusal = shared.refusal(of: sender) ?? shared.enqueue(entry) { return refusal }
        try drain()
        return nil
    }

    mutating func complete(_ id: EffectID) throws(TestLoopError) {
        transitionsCount = 0
        tell(id, "has completed at \(moment)")
        perform(shared.complete(id, attempt: effects[id]?.attempt ?? 0, at: now))
        try drain()
    }

    mutating func fail(_ id: EffectID, _ error: any Error) throws(TestLoopError) {
        transitionsCount = 0
        let work = shared.fail(id, attempt: effects[id]?.attempt ?? 0, error: error, at: now)
        tell(id, "has failed (\(error)) at \(moment) and waits to be tried again")
        perform(work)
        try drain()
    }

    /// Returns false if it is not parked.
    mutating func retryParked(_ id: EffectID) throws(TestLoopError) -> Bool {
        transitionsCount = 0
        guard let work = shared.retryParked(id, at: now) else { return false }
        tell(id, "waits to be tried again")
        perform(work)
        try drain()
        return true
    }

    mutating func advance(to time: MonotonicTime) throws(TestLoopError) {
        transitionsCount = 0
        while let next = timer, next.deadline <= time {
            now = max(now, next.deadline)
            timer = nil
            fire(next.generation)
            try drain()
        }
        now = max(now, time)
    }

    // MARK: Steps

    private mutating func drain() throws(TestLoopError) {
        while let entry = shared.next() {
            if entry.isStale {
                if case .event(let event) = entry.input, let id = entry.source { note(.refused(event, of: id)) }
                continue
            }
            transitionsCount += 1
            if transitionsCount > Self.transitionsMax {
                throw .restless(transitionsMax: Self.transitionsMax, last: Self.text(of: entry.input))
            }
            try apply(entry)
        }
    }

    private mutating func apply(_ entry: Shared.Entry) throws(TestLoopError) {
        let before = turn
        let wall = wall
        let changes = turn.advance(entry.input) { wall.milliseconds }
        let wishes = turn.wishes(changes)
        let outcome = outcomeOf(turn.state)
        let event: Event? = if case .event(let event) = entry.input { event } else { nil }
        shared.commit(state: turn.state, seq: turn.seq, outcome: outcome)
        note(.applied(event, by: entry.source, before: before.state, after: turn.state))
        tellCustoms(turn.state, event)
        if let event { try requirePurity(of: event, before, changes) }
        if let outcome { return end(outcome) }
        apply(wishes)
    }

    /// The bodies of custom feedbacks are not run, but the feedbacks attach and detach with their parts of the state.
    private mutating func tellCustoms(_ state: State, _ event: Event?) {
        for feedback in feedbacks {
            guard let custom = feedback.custom else { continue }
            if let run = customs[feedback.name] {
                if run.tell(state, event) { continue }
                customs[feedback.name] = nil
                run.finish()
            } else {
                customs[feedback.name] = custom.attach(state, Self.port)
            }
        }
    }

    /// The argument of a custom feedback's body, which is not run.
    private static var port: CustomPort<Event> {
        CustomPort(send: Send { _, _ throws(SendRefusal) in .initial }, post: { _ in })
    }

    private mutating func end(_ outcome: Outcome) {
        _ = shared.stop()
        timer = nil
        note(.ended(outcome))
    }

    // MARK: Effects

    private mutating func apply(_ wishes: [LoopTurn<State, Event>.Wish]) {
        if shared.isStopped || wishes.isEmpty { return }
        var begun: [EffectID] = []
        for wish in wishes {
            switch wish {
            case .start(let id, let request, _, _):
                effects[id] = EffectFacts(feedback: feedbacks[Int(id.feedback)].name, request: request)
                begun.append(id)
            case .update(let id, let request, _):
                effects[id]?.request = request
                note(.updated(id, request: request), isRequired: phase(of: id) != .completed)
            case .cancel(let id):
                note(.cancelled(id), isRequired: phase(of: id) != .completed && id != ending)
                tell(id, "was cancelled at \(moment)")
            }
        }
        let work = shared.apply(wishes, at: now)
        let launched = Set(work.launches.map(\.effect.id))
        for id in begun where !launched.contains(id) {
            if feedbacks[Int(id.feedback)].timer != nil {
                note(.set(id))
                tell(id, "was set at \(moment)")
            } else {
                waiting[id] = nextNumber
                note(.waiting(id))
            }
        }
        perform(work)
    }

    /// Does the work that a critical section of the loop has left, and what follows from it. Does not drain.
    private mutating func perform(_ work: Shared.Work) {
        var pending = [work]
        var position = 0
        while position < pending.count {
            let work = pending[position]
            position += 1
            for handle in work.cancelled { handle.cancel() }
            if let new = work.timer { timer = new.deadline.map { ($0, new.generation) } }
            for occasion in work.occasions { take(occasion) }
            for launch in work.launches { if let more = start(launch) { pending.append(more) } }
        }
    }

    /// Starts one attempt. An effect that only sends events has ended when this returns. The test answers all others.
    private mutating func start(_ launch: Shared.Launch) -> Shared.Work? {
        let (id, attempt) = (launch.effect.id, launch.effect.attempt)
        effects[id]?.attempt = attempt
        effects[id]?.failures = launch.effect.failures
        tell(id, "runs since \(moment)")
        // Waiting was only a step on the way.
        if let waiting = waiting.removeValue(forKey: id), let index = log.lastIndex(where: { $0.number == waiting }) {
            log[index].isRequired = false
        }
        let run = run
        let context = EffectContext(
            id: id, failures: launch.effect.failures, isResumed: false, idempotencyKey: "\(run)/\(id)",
            updates: launch.updates)
        switch feedbacks[Int(id.feedback)].effect(launch.effect.request, context).body {
        case .events(let events):
            note(.started(id), isRequired: !events.isEmpty)
            tell(id, "has sent its events and completed at \(moment)")
            return shared.complete(id, attempt: attempt, sending: events, at: now)
        case .run, .task:
            note(.started(id))
            return nil
        }
    }

    /// Queues the event that a feedback makes of an occasion, and notes what has become of the effect.
    private mutating func take(_ occasion: Shared.Occasion) {
        let event = occasion.event(feedbacks)
        let isQueued = event.map { shared.enqueue($0, of: occasion) } ?? false
        switch occasion {
        case .failure(let id, _, let failure):
            tell(id, "has failed for good (\(failure)) at \(moment)")
            if !isQueued { note(.parked(id)) }
        case .timer(let id, _): if isQueued { tell(id, "has fired at \(moment)") }
        case .schedule: break
        }
    }

    private mutating func fire(_ generation: UInt64) {
        let running = effects.keys.sorted().filter { phase(of: $0) == .running }
        let attempts = running.map { ($0, effects[$0]?.attempt ?? 0) }
        let limits = feedbacks.map { $0.policy.timeout ?? .zero }
        let work = shared.timerFired(generation: generation, at: now) { limits[Int($0.feedback)] }
        for (id, attempt) in attempts where !shared.table.isRunning(id, attempt: attempt) {
            note(.timedOut(id))
            tell(id, "has timed out at \(moment) and waits to be tried again")
        }
        perform(work)
    }

    // MARK: Words

    private mutating func note(_ what: Action.What, isRequired: Bool = true) {
        log.append(Action(what: what, isRequired: isRequired, number: nextNumber, time: time, seq: turn.seq))
        nextNumber += 1
    }

    /// Notes the last event in an effect's life.
    private mutating func tell(_ id: EffectID, _ story: String) { effects[id]?.story = story }

    private var moment: String { "\(time), seq \(turn.seq)" }

    static func text(of input: LoopInput<State, Event>) -> String {
        if case .event(let event) = input { ValueText.of(event) } else { "a direct change" }
    }

    /// What happened, in a sentence, with its moment.
    func text(of happening: Action) -> String {
        let moment = "\(happening.time), seq \(happening.seq)"
        func effect(_ id: EffectID) -> String { effects[id].map { "effect " + $0.text } ?? "effect \(id)" }
        let sentence: String =
            switch happening.what {
            case .applied(let event, let source, _, _):
                "event \(event.map { ValueText.of($0) } ?? "of a direct change") was applied"
                    + (source.map { ", sent by \(effect($0))" } ?? "")
            case .refused(let event, let id):
                "event \(ValueText.of(event)) was dropped, because its effect \(effects[id]?.text ?? "\(id)") was cancelled"
            case .started(let id): "\(effect(id)) started"
            case .waiting(let id): "\(effect(id)) waits for the limits of its feedback"
            case .set(let id): "\(effect(id)) was set"
            case .updated(let id, let request):
                "effect \"\(effects[id]?.feedback ?? "")\" was given the request \(ValueText.of(request))"
            case .cancelled(let id): "\(effect(id)) was cancelled"
            case .timedOut(let id): "\(effect(id)) timed out"
            case .parked(let id):
                "\(effect(id)) was parked (\(parked.first { $0.id == id }?.reason ?? "failed for good"))"
            case .ended(let outcome): "the loop ended with exit code \(outcome.exitCode): \(outcome.text)"
            }
        return "\(moment): \(sentence)"
    }
}
