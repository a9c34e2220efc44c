import LoopCollections
import LoopCompatibility
import LoopCore
import TestClocks

/// A subscriber; only the runner of the case reads it.
private final class Reader: @unchecked Sendable {
    private var states: AsyncStream<Cells>.Iterator
    private let flaw: Flaw?
    private var past: [Cells]
    private var last: Cells?

    init(_ states: AsyncStream<Cells>.Iterator, flaw: Flaw?, initial: Cells) {
        self.states = states
        self.flaw = flaw
        past = flaw == .showsLateSubscribersThePast ? [initial] : []
    }

    func next() async -> Cells? {
        if let past = past.popLast() { return past }
        var next = await states.next()
        while flaw == .removesEqualStates, let state = next, state == last { next = await states.next() }
        last = next
        return next
    }
}

/// A real loop around a made-up case, and everything that can be seen of it.
final class World: Sendable {
    private struct Content: Sendable {
        var loop: Loop<Cells, Put>?
        var seen = Observation()
        var puppets: [Attempt: Puppet] = [:]
        var numbers: [EffectID: Int] = [:]
        var settled: Set<Attempt> = []
        var customs: [Int: Send<Put>] = [:]
        var pairs: [Int: [[String]]] = [:]
        var readers: [Reader] = []
        var reductions = 0
        var sends = 0
        var isStopped = false
    }

    let made: ModelCase
    let flaw: Flaw?
    let clock = PoolClock()
    let inputs: [Input<Put>]
    private let content = Locked(Content())

    init(_ made: ModelCase, flaw: Flaw? = nil) {
        self.made = made
        self.flaw = flaw
        inputs = made.feedbacks.map { _ in Input() }
    }

    // MARK: What is done with it

    func start() {
        let loop = Loop<Cells, Put>(
            initial: made.initial,
            reducer: { [self] state, event in
                reducing(event)
                state[event.cell] = event.value
            },
            feedbacks: made.feedbacks.indices.map { feedback($0) }, clock: clock, seed: 1)
        content.withLock { $0.loop = loop }
    }

    func send(_ event: Put) {
        let loop = content.withLock { content in
            content.sends += 1
            return content.loop
        }
        if flaw == .dropsASend, content.withLock({ $0.sends }) == 4 { return }
        loop?.send(event)
    }

    func mutate(_ cell: Int, _ value: Int) {
        if flaw == .reducesMutations { return send(Put(cell, value)) }
        content.withLock { $0.loop }?.mutate(keyPath: \.[cell], value: value)
    }

    func subscribe() {
        guard let loop = content.withLock({ $0.loop }) else { return }
        let reader = Reader(loop.states.makeAsyncIterator(), flaw: flaw, initial: made.initial)
        content.withLock { $0.readers.append(reader) }
    }

    func read(_ reader: Int, _ event: Put) async {
        let state = await content.withLock { $0.readers[reader] }.next()
        log("reader \(reader): \(state.map { "\($0)" } ?? "end")")
        send(event)
    }

    func send(_ event: Put, as attempt: Attempt, asking: Bool = false) {
        let send = puppet(attempt)?.send
        let asker = "\(attempt) \(made.feedbacks[Int(attempt.id.feedback)].embed(event))"
        // Runs until it has to wait, which only a question for the outcome may have to.
        _ = Task.immediate {
            do {
                if asking, flaw == .confirmsTooEarly {
                    try await send?(event)
                    answer("\(asker): applied 0")
                } else if asking {
                    let seq = try await send?.sendAndConfirm(event)
                    answer("\(asker): applied \(seq.map { "\($0)" } ?? "never")")
                } else {
                    try await send?(event)
                    answer("\(asker): accepted")
                }
            } catch {
                answer("\(asker): \((error as? SendRefusal).map { "\($0.reason)" } ?? "\(error)")")
            }
        }
    }

    func end(_ attempt: Attempt, _ result: Result<Void, any Error>) {
        puppet(attempt)?.end(flaw == .takesFailureForCompletion ? .success(()) : result)
    }

    func takeUpdate(_ attempt: Attempt) {
        guard let updates = puppet(attempt)?.updates else { return }
        _ = Task.immediate {
            var iterator = updates.makeAsyncIterator()
            if let update = await iterator.next() { answer("\(attempt) update \(update)") }
        }
    }

    func send(_ event: Put, asCustom feedback: Int) {
        let send = content.withLock { $0.customs[feedback] }
        _ = Task.immediate { try? await send?(event) }
    }

    func retryParked(_ id: EffectID) { _ = content.withLock { $0.loop }?.retryParked(id) }

    func stop() {
        if flaw == .doesNotStop { return }
        end()
    }

    private func end() {
        let loop = content.withLock { content in
            content.isStopped = true
            return content.loop
        }
        loop?.stop()
    }

    /// Whether an event is being reduced or delivered. What has been seen of it may be all, although readers have not yet got
    /// its state; a step must not come between.
    var isBusy: Bool { content.withLock { $0.loop }?.isDraining ?? false }

    /// What has been seen since the last rest.
    func look() -> Observation {
        let loop = content.withLock { $0.loop }
        let (state, phases) = (loop?.state ?? made.initial, loop?.phases ?? [:])
        return content.withLock { content in
            var seen = content.seen
            seen.state = state
            seen.phases = phases
            seen.entered = Set(content.puppets.filter { $0.value.isEntered }.keys)
            seen.cancelled = Set(content.puppets.filter { $0.value.isCancelled }.keys)
            seen.pairs = content.pairs
            return seen
        }
    }

    /// Everything has come to rest and has been seen. What has come since then is seen next time.
    func rest(_ seen: Observation) {
        content.withLock { content in
            content.seen.trace.removeFirst(seen.trace.count)
            for (feedback, starts) in seen.starts { content.seen.starts[feedback]?.removeFirst(starts.count) }
            content.seen.starts = content.seen.starts.filter { !$0.value.isEmpty }
            content.seen.answers.removeFirst(seen.answers.count)
            content.settled = Set(content.puppets.keys)
        }
    }

    /// Ends everything, and gives what each reader has not taken.
    func close() async -> [[Cells]] {
        end()
        var rests: [[Cells]] = []
        for reader in content.withLock({ $0.readers }) {
            var rest: [Cells] = []
            while let state = await reader.next() { rest.append(state) }
            rests.append(rest)
        }
        for puppet in content.withLock({ $0.puppets.values }) { puppet.end(.success(())) }
        content.withLock { $0.loop = nil }
        return rests
    }

    // MARK: What the loop calls

    private func log(_ line: String) { content.withLock { $0.seen.trace.append(line) } }
    private func answer(_ line: String) { content.withLock { $0.seen.answers.append(line) } }
    private func puppet(_ attempt: Attempt) -> Puppet? { content.withLock { $0.puppets[attempt] } }

    private func reducing(_ event: Put) {
        content.withLock { content in
            content.reductions += 1
            content.seen.trace.append("reduce \(event)")
        }
        react(.reducing(event))
    }

    private func react(_ place: Reaction.Place) {
        let isPossible = content.withLock { $0.loop != nil && $0.reductions < ModelCase.reductionsMax }
        guard isPossible else { return }
        let reactions = made.reactions.filter { $0.place == place }
        for reaction in flaw == .sendsFromInsideInReverse ? reactions.reversed() : reactions {
            switch reaction.deed {
            case .send(let event): send(event)
            case .stop: stop()
            case .subscribe: subscribe()
            case .sendAs(let feedback, let back, let event):
                let all = content.withLock { content in
                    content.settled.filter { $0.id.feedback == UInt32(feedback) }.sorted()
                }
                if !all.isEmpty { send(event, as: all[all.count - 1 - back % all.count]) }
            }
        }
    }

    func wished(_ changes: ArraySlice<EffectChange>) {
        content.withLock { content in
            // What follows from a transition that a stop discards is not wanted.
            if content.isStopped { return }
            for change in changes {
                switch change {
                case .start(let id, let request): content.seen.trace.append("start \(id): \(Self.text(request))")
                case .update(let id, let request): content.seen.trace.append("update \(id): \(Self.text(request))")
                case .cancel(let id): content.seen.trace.append("cancel \(id)")
                }
            }
        }
    }

    static func text(_ request: any Sendable) -> String {
        switch request {
        case let cause as Cause<Cells, Put>: "\(cause.state) \(cause.event)"
        case is SourceRequest: "source"
        default: "\(request)"
        }
    }

    /// What the effects of a feedback do.
    func body(_ feedback: Int, _ updates: RequestUpdates<Int>? = nil) -> Effect<Put> {
        switch made.feedbacks[feedback].body {
        case .task: return .run { try await Puppet.current?.live($0, updates) }
        case .events(let events):
            let (isPossible, loop) = content.withLock { ($0.reductions < ModelCase.reductionsMax, $0.loop) }
            if flaw == .keepsEventsOfCancelledEffects, isPossible, let loop {
                for event in events { loop.send(made.feedbacks[feedback].embed(event)) }
                return .none
            }
            return .events(of: isPossible ? events : [])
        }
    }

    /// An effect is made.
    func started(
        _ feedback: Int, _ request: any Sendable, _ context: EffectContext, _ effect: () -> Effect<Put>
    ) -> Effect<Put> {
        let spec = made.feedbacks[feedback]
        let puppet = Puppet()
        content.withLock { content in
            let attempt = Attempt(id: context.id, number: content.numbers[context.id, default: 0] + 1)
            content.numbers[context.id] = attempt.number
            let text = "run \(attempt) after \(context.failures): \(Self.text(request))"
            if spec.startsInOrder {
                content.seen.trace.append(text)
            } else {
                content.seen.starts[feedback, default: []].append(text)
            }
            if spec.body == .task { content.puppets[attempt] = puppet }
        }
        if spec.startsInOrder { react(.starting(feedback)) }
        let effect = effect()
        guard case .run(let body) = effect.body else { return effect }
        return .run { send in try await Puppet.$current.withValue(puppet) { try await body(send) } }
    }

    func follow(
        _ feedback: Int, _ transitions: AsyncStream<(state: Cells, event: Put?)>, _ send: Send<Put>
    ) async {
        let index = content.withLock { content in
            content.customs[feedback] = send
            content.pairs[feedback, default: []].append([])
            return (content.pairs[feedback]?.count ?? 1) - 1
        }
        for await (state, event) in transitions {
            content.withLock {
                let event = flaw == .hidesEventsFromCustomFeedbacks ? nil : event
                $0.pairs[feedback]?[index].append("\(state) \(event.map { "\($0)" } ?? "-")")
            }
        }
    }
}
