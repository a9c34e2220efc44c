import LoopCore

/// What a loop must do, as a plain interpreter written from docs/SEMANTICS.md, whose numbers its clauses carry. It knows
/// nothing of how `Loop` does it: no locks, no tasks, no queries.
struct Reference {
    struct Effect {
        var request: String
        var phase = EffectPhase.waiting
        var attempt = 0
        var failures = 0
        /// Its place among those that wait.
        var ticket = 0
        var notBefore: Int?
        var deadline: Int?
        /// The newest request that the body has not taken.
        var update: String?
    }

    struct Entry {
        /// Nil: a change that passes the reducer by.
        var event: Put?
        var change: Put?
        /// The effect that sent it.
        var source: EffectID?
        /// The asker that waits for it to be applied.
        var asker: String?
    }

    struct Reader: Equatable {
        var states: [Cells]
        var readCount = 0
    }

    let made: ModelCase
    var seen = Observation()
    private(set) var time = 0
    private(set) var isStopped = false
    private(set) var readers: [Reader] = []
    private(set) var effects: [EffectID: Effect] = [:]
    /// Attempts whose bodies have not returned, cancelled or not.
    private(set) var bodies: Set<Attempt> = []
    /// Every attempt whose effect was made, for those who name one; settled ones can be told to do something.
    private var started: [Int: Set<Attempt>] = [:]
    private var settled: Set<Attempt> = []
    var memories: [Memory]
    private var queue: [Entry] = []
    private var isBusy = false
    private var isHandedOut = false
    private var reductions = 0
    private(set) var seq = 0
    private var tickets = 0

    /// What a feedback remembers: whether its part was there, and which effects it has asked for.
    struct Memory {
        var isAttached = false
        /// By key; forms with one effect use the key "".
        var asked: [String: (id: EffectID, request: String)] = [:]
    }

    init(_ made: ModelCase) {
        self.made = made
        seen.state = made.initial
        memories = made.feedbacks.map { _ in Memory() }
    }

    // MARK: What is done from outside

    /// The start: every feedback sees the initial state without an event (14), and what follows is reduced at once.
    mutating func start() {
        isBusy = true
        evaluate(nil)
        drain()
        isHandedOut = true
    }

    /// Everything has come to rest: attempts have been entered. Gives what should have been seen since the last rest.
    mutating func rest() -> Observation {
        for attempts in started.values { settled.formUnion(attempts) }
        seen.entered = settled
        seen.phases = effects.mapValues(\.phase)
        defer { (seen.trace, seen.starts, seen.answers) = ([], [:], []) }
        return seen
    }

    /// Whether the part of a feedback is there.
    func isAttached(_ feedback: Int) -> Bool { !isStopped && memories[feedback].isAttached }

    /// Whether a newer request waits to be taken.
    func hasUpdate(_ attempt: Attempt) -> Bool { refusal(attempt) == nil && effects[attempt.id]?.update != nil }

    mutating func send(_ event: Put) { queue(Entry(event: event)) }

    /// 39: through the same queue, past the reducer.
    mutating func mutate(_ cell: Int, _ value: Int) { queue(Entry(change: Put(cell, value))) }

    /// 1, 12, 15: one snapshot, whenever that is; after the end nothing.
    mutating func subscribe() { readers.append(Reader(states: isStopped ? [] : [seen.state])) }

    mutating func read(_ reader: Int, _ event: Put) {
        seen.trace.append("reader \(reader): \(readers[reader].states[readers[reader].readCount])")
        readers[reader].readCount += 1
        send(event)
    }

    /// The effect that a step or reaction means: of those that a feedback has started, a number before the last.
    func attempt(_ feedback: Int, back: Int) -> Attempt? {
        let all = (started[feedback] ?? []).intersection(settled).sorted()
        return all.isEmpty ? nil : all[all.count - 1 - back % all.count]
    }

    /// 25, 5: an attempt's event is accepted while it runs, and then is one like any other.
    mutating func send(_ event: Put, as attempt: Attempt, asking: Bool = false) {
        let asker = "\(attempt) \(event)"
        if let refusal = refusal(attempt) {
            seen.answers.append("\(asker): \(refusal)")
        } else {
            if !asking { seen.answers.append("\(asker): accepted") }
            queue(Entry(event: event, source: attempt.id, asker: asking ? asker : nil))
        }
    }

    private func refusal(_ attempt: Attempt) -> String? {
        if isStopped { return "ended" }
        guard let effect = effects[attempt.id] else { return "stale" }
        return effect.phase == .running && effect.attempt == attempt.number ? nil : "attempt"
    }

    /// 26: the end of an effect ends nothing else.
    mutating func complete(_ attempt: Attempt) {
        bodies.remove(attempt)
        guard refusal(attempt) == nil else { return }
        effects[attempt.id]?.phase = .completed
        undelivered { $0.startWaiting() }
    }

    /// 28: an error follows the policy, or becomes an event.
    mutating func fail(_ attempt: Attempt) {
        bodies.remove(attempt)
        guard refusal(attempt) == nil else { return }
        undelivered {
            $0.settleFailure(attempt.id)
            $0.startWaiting()
        }
    }

    /// 24: of the updates that wait to be taken, the newest counts.
    mutating func takeUpdate(_ attempt: Attempt) {
        guard hasUpdate(attempt), let update = effects[attempt.id]?.update else { return }
        seen.answers.append("\(attempt) update \(update)")
        effects[attempt.id]?.update = nil
    }

    /// 29: a custom feedback contributes what it sends; no cancellation removes it.
    mutating func send(_ event: Put, asCustom feedback: Int) { send(made.feedbacks[feedback].embed(event)) }

    /// When something is due next.
    var nextTime: Int? {
        effects.values.compactMap { $0.phase == .running ? $0.deadline : $0.phase == .waiting ? $0.notBefore : nil }
            .filter { $0 > time }.min()
    }

    mutating func advance(to time: Int) {
        self.time = time
        if isStopped { return }
        undelivered { reference in
            let overdue = reference.effects
                .filter { $0.value.phase == .running && ($0.value.deadline ?? .max) <= time }
                .sorted { ($0.value.deadline ?? 0, $0.key) < ($1.value.deadline ?? 0, $1.key) }.map(\.key)
            for id in overdue {
                reference.cancelBody(id)
                reference.settleFailure(id)
            }
            reference.startWaiting()
        }
    }

    mutating func retryParked(_ feedback: Int) -> EffectID? {
        let parked = effects.filter { $0.value.phase == .parked && $0.key.feedback == UInt32(feedback) }.keys.min()
        guard let parked else { return nil }
        effects[parked]?.failures = 0
        wait(parked)
        undelivered { $0.startWaiting() }
        return parked
    }

    /// 9: nothing is reduced any more; what is queued is discarded; effects are cancelled.
    mutating func stop() {
        if isStopped { return }
        isStopped = true
        for entry in queue { if let asker = entry.asker { seen.answers.append("\(asker): ended") } }
        queue = []
        for id in effects.keys { cancelBody(id) }
        effects = [:]
    }

    // MARK: One event after the other

    /// 3, 5, 7: events are reduced in the order in which they were queued, before `send` returns, and those that are sent
    /// from inside after the current delivery.
    private mutating func queue(_ entry: Entry) {
        if isStopped { return }
        queue.append(entry)
        if isBusy { return }
        isBusy = true
        drain()
    }

    /// What starts effects outside of a delivery; what they send is reduced afterwards (5).
    private mutating func undelivered(_ body: (inout Reference) -> Void) {
        isBusy = true
        body(&self)
        drain()
    }

    private mutating func drain() {
        while !isStopped, !queue.isEmpty {
            let entry = queue.removeFirst()
            // 25: events of a cancelled effect are gone.
            if let source = entry.source, effects[source] == nil {
                if let asker = entry.asker { seen.answers.append("\(asker): stale") }
            } else {
                apply(entry)
            }
        }
        isBusy = false
    }

    /// 2, 4, 13: one event, one state, published whether or not it differs, and then the feedbacks see both.
    private mutating func apply(_ entry: Entry) {
        if let event = entry.event {
            reductions += 1
            seen.trace.append("reduce \(event)")
            react(.reducing(event))
        }
        // 10: a stop takes effect at once; this transition is not published.
        if isStopped {
            if let asker = entry.asker { seen.answers.append("\(asker): ended") }
            return
        }
        if let put = entry.event ?? entry.change { seen.state[put.cell] = put.value }
        seq += 1
        for reader in readers.indices { readers[reader].states.append(seen.state) }
        if let asker = entry.asker { seen.answers.append("\(asker): applied \(seq)") }
        evaluate(entry.event)
    }

    private mutating func react(_ place: Reaction.Place) {
        guard isHandedOut, reductions < ModelCase.reductionsMax else { return }
        for reaction in made.reactions where reaction.place == place {
            switch reaction.deed {
            case .send(let event): send(event)
            case .stop: stop()
            case .subscribe: subscribe()
            case .sendAs(let feedback, let back, let event):
                if let attempt = attempt(feedback, back: back) {
                    send(made.feedbacks[feedback].embed(event), as: attempt)
                }
            }
        }
    }

    // MARK: Feedbacks

    /// 8: feedbacks see each event in the order of their declaration.
    private mutating func evaluate(_ event: Put?) {
        var wishes: [Wish] = []
        for feedback in made.feedbacks.indices { wishes += ask(feedback, event) }
        var new: [EffectID] = []
        for wish in wishes {
            switch wish {
            case .start(let id, let request):
                effects[id] = Effect(request: request)
                wait(id)
                if made.feedbacks[Int(id.feedback)].concurrency == nil { new.append(id) }
            case .update(let id, let request):
                effects[id]?.request = request
                if effects[id]?.phase == .running { effects[id]?.update = request }
            case .cancel(let id):
                cancelBody(id)
                effects[id] = nil
            }
        }
        for id in new { run(id) }
        startWaiting()
    }

    // MARK: Effects

    private mutating func wait(_ id: EffectID, until notBefore: Int? = nil) {
        tickets += 1
        effects[id]?.phase = .waiting
        effects[id]?.ticket = tickets
        effects[id]?.notBefore = notBefore
    }

    /// Effects that wait start in the order in which they were asked for, retried ones at the back, within their limit.
    private mutating func startWaiting() {
        for (feedback, made) in made.feedbacks.enumerated() {
            let waiting =
                effects
                .filter { $0.key.feedback == UInt32(feedback) && $0.value.phase == .waiting }
                .filter { ($0.value.notBefore ?? 0) <= time }.sorted { $0.value.ticket < $1.value.ticket }
            for (id, _) in waiting {
                let running = effects.count { $0.key.feedback == UInt32(feedback) && $0.value.phase == .running }
                if running < made.concurrency ?? .max { run(id) }
            }
        }
    }

    private mutating func run(_ id: EffectID) {
        guard !isStopped, let effect = effects[id] else { return }
        let feedback = Int(id.feedback)
        let made = made.feedbacks[feedback]
        effects[id]?.phase = .running
        effects[id]?.attempt += 1
        effects[id]?.update = nil
        if made.isLimited { effects[id]?.deadline = time + made.limit(feedback) }
        let attempt = Attempt(id: id, number: effect.attempt + 1)
        let text = "run \(attempt) after \(effect.failures): \(effect.request)"
        if made.startsInOrder { seen.trace.append(text) } else { seen.starts[feedback, default: []].append(text) }
        if made.startsInOrder { react(.starting(feedback)) }
        switch made.body {
        case .task:
            started[feedback, default: []].insert(attempt)
            bodies.insert(attempt)
        case .events(let events):
            guard effects[id] != nil else { return }
            if reductions < ModelCase.reductionsMax {
                queue += events.map { Entry(event: made.embed($0), source: id) }
            }
            effects[id]?.phase = .completed
        }
    }

    /// 17, 18, 9: a body that runs is cancelled. It may still do what it likes; it is not heard any more.
    private mutating func cancelBody(_ id: EffectID) {
        guard let effect = effects[id], effect.phase == .running, made.feedbacks[Int(id.feedback)].body == .task
        else { return }
        seen.cancelled.insert(Attempt(id: id, number: effect.attempt))
    }

    private mutating func settleFailure(_ id: EffectID) {
        let feedback = Int(id.feedback)
        let made = made.feedbacks[feedback]
        effects[id]?.failures += 1
        if let effect = effects[id], effect.failures < made.attempts {
            wait(id, until: time + made.delay(feedback))
        } else if let event = made.failing {
            effects[id]?.phase = .completed
            queue.append(Entry(event: made.embed(event), source: id))
        } else {
            effects[id]?.phase = .parked
        }
    }
}
