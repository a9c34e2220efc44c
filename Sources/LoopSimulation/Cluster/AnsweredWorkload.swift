import LoopCore
import LoopWire

/// A definition under test. Effects do what the test's answers contain, clients send the test's events, and every state is checked
/// against the test's invariants. Values are encoded as in production.
struct AnsweredWorkload<Definition: LoopDefinition>: Workload {
    typealias Event = Definition.Event
    /// Fills in the steps of an effect. Returns an error text if it cannot.
    typealias Answer = @Sendable (any Sendable, inout SimulatedEffect<Event>) -> String?

    let definition: Definition
    var coder: any ValueCoder { CBORCoder() }
    var limits: WorkloadLimits { WorkloadLimits(restLimit: restLimit) }

    let restLimit: Duration
    let answers: [String: Answer]
    let invariants: [(name: String, holds: @Sendable (Definition.State) -> Bool)]
    /// The plans of clients, by their number. The rest of a plan is kept from one process to the next.
    var clients: [Int: ClientPlan<Event>]
    private let feedbacks: [String: Feedback<Definition.State, Event>]

    /// The remaining steps, with the next one last.
    struct Script: Sendable {
        fileprivate var steps: [BodyStep]
    }

    init(
        _ definition: Definition, answers: [String: Answer],
        invariants: [(name: String, holds: @Sendable (Definition.State) -> Bool)], clients: [Int: ClientPlan<Event>],
        restLimit: Duration
    ) {
        self.definition = definition
        self.answers = answers
        self.invariants = invariants
        self.clients = clients
        self.restLimit = restLimit
        feedbacks = Dictionary(definition.allFeedbacks.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: Effects

    func script(for job: Job, _ draw: inout Draw) throws(Violation) -> Script {
        guard let name = job.feedback, let feedback = feedbacks[name], let coding = feedback.requestCoding else {
            throw Violation(.nothingLost, "\(job.grant.effect) is of no feedback that this loop has")
        }
        let request: any Sendable
        do {
            request = try coding.decode(job.grant.request, coder)
        } catch {
            throw Violation(.usage, "a request of the feedback \"\(name)\" cannot be decoded: \(error)")
        }
        var effect = SimulatedEffect<Event>(
            id: job.grant.effect, failures: Int(job.grant.failures), isResumed: job.grant.isResumed,
            random: SeededRandom(seed: draw.random.next()))
        if let answer = answers[name] {
            if let mistake = answer(request, &effect) { throw Violation(.usage, mistake) }
        } else {
            try answerByItself(feedback, request, job, &effect)
        }
        return try script(of: effect)
    }

    /// Answers for an effect that only sends events.
    private func answerByItself(
        _ feedback: Feedback<Definition.State, Event>, _ request: any Sendable, _ job: Job,
        _ effect: inout SimulatedEffect<Event>
    ) throws(Violation) {
        let (updates, end) = AsyncStream.makeStream(of: (any Sendable).self)
        end.finish()
        let key = "\(Definition.name)/\(job.history)/\(effect.id)"
        let context = EffectContext(
            id: effect.id, failures: effect.failures, isResumed: effect.isResumed, idempotencyKey: key,
            updates: updates)
        switch feedback.effect(request, context).body {
        case .events(let events): for event in events { effect.send(event) }
        case .run, .task:
            throw Violation(
                .usage,
                "effects of the feedback \"\(feedback.name)\" run code, which a simulated cluster does not; say what they"
                    + " do: cluster.answer(\"\(feedback.name)\") {"
                    + " (request: \(type(of: request)), effect: inout SimulatedEffect<\(Definition.self).Event>) in … }"
            )
        }
    }

    private func script(
        of effect: SimulatedEffect<Event>
    ) throws(Violation) -> Script {
        var steps: [BodyStep] = []
        for step in effect.steps {
            switch step {
            case .pause(let nanoseconds): steps.append(.pause(nanoseconds: nanoseconds))
            case .send(let event): steps.append(.send(try encoded(event)))
            case .runForever: return Script(steps: [.rest] + steps.reversed())
            case .fail(let error):
                return Script(steps: [.end(Failure(error))] + steps.reversed())
            }
        }
        return Script(steps: [.end(nil)] + steps.reversed())
    }

    func next(_ script: inout Script, _ draw: inout Draw) throws(Violation) -> BodyStep {
        script.steps.popLast() ?? .rest
    }

    func endsWithItsEvent(_ script: Script, _ draw: inout Draw) -> Bool {
        if case .end(nil) = script.steps.last { true } else { false }
    }

    // MARK: Clients

    mutating func burst(of client: Int, _ draw: inout Draw) throws(Violation) -> Burst {
        guard let (events, pause) = clients[client]?.burst(&draw) else { return Burst() }
        var burst = Burst(pause: pause)
        for event in events { burst.events.append(try encoded(event)) }
        return burst
    }

    private func encoded(_ event: Event) throws(Violation) -> [UInt8] {
        do {
            return try coder.encode(event)
        } catch {
            throw Violation(.usage, "the event \(event) cannot be encoded: \(error)")
        }
    }

    // MARK: Words

    func advice(on promise: Promise) -> String? {
        guard promise == .replayIsExact || promise == .observersConverge else { return nil }
        return
            "reduce, the queries and the coding of \(Definition.self) must be functions of their arguments: look for the"
            + " order of a Set or a Dictionary, for random numbers and times that are not the transition's, and for globals"
    }

    // MARK: States

    func judge(_ state: Definition.State, at seq: Seq) throws(Violation) {
        for invariant in invariants where !invariant.holds(state) {
            throw Violation(.invariant, "\"\(invariant.name)\" does not hold at seq \(seq): \(state)")
        }
    }
}

/// What one client sends, and when.
struct ClientPlan<Event: Sendable>: Sendable {
    /// The listed events in the order of their times, with the next one last.
    private var listed: [(time: UInt64, event: Event)] = []
    private var regular: [(interval: UInt64, event: @Sendable (inout SeededRandom) -> Event, next: UInt64)] = []

    mutating func send(_ event: Event, at time: UInt64) {
        // Inserts it after all events of an equal time.
        let place = listed.firstIndex { $0.time <= time } ?? listed.count
        listed.insert((time, event), at: place)
    }

    mutating func send(every interval: UInt64, _ event: @escaping @Sendable (inout SeededRandom) -> Event) {
        regular.append((max(1, interval), event, 0))
    }

    /// The time of the last event of the list.
    var lastTime: UInt64 { listed.first?.time ?? 0 }

    /// The events that are due now, and the time until there are more.
    mutating func burst(_ draw: inout Draw) -> (events: [Event], pause: UInt64?) {
        var events: [Event] = []
        while let next = listed.last, next.time <= draw.now {
            events.append(next.event)
            listed.removeLast()
        }
        var times = listed.last.map { [$0.time] } ?? []
        for index in regular.indices where draw.isFaulty {
            if regular[index].next <= draw.now {
                if regular[index].next > 0 { events.append(regular[index].event(&draw.random)) }
                // Between 0.5 and 1.5 of the interval, so that clients do not stay in step.
                let interval = regular[index].interval
                regular[index].next = draw.now + max(1, draw.random.between(interval / 2, interval + interval / 2))
            }
            times.append(regular[index].next)
        }
        return (events, times.min().map { $0 - draw.now })
    }
}
