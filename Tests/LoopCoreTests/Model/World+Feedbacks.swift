import LoopCollections
import LoopCompatibility
import LoopCore

extension World {
    /// The real feedback of a made-up one, which tells what its query wishes and when its effects start.
    func feedback(_ number: Int) -> Feedback<Cells, Put> {
        let spec = flaw.map { $0.flawed(made.feedbacks[number]) } ?? made.feedbacks[number]
        var feedback = policies(form(number, spec.form), spec)
        for modifier in made.feedbacks[number].modifiers { feedback = modified(feedback, modifier) }
        guard case .effect(let effect) = feedback.kind else { return feedback }
        feedback.kind = .effect(
            RequestEffect(
                effect, query: { [self] in RecordingQuery(base: effect.query(), world: self) },
                body: { [self] request, context in
                    started(number, request, context) { effect.body(request, context) }
                },
                failureEvent: feedback.failureEvent))
        return feedback
    }

    private func form(_ number: Int, _ form: Form) -> Feedback<Cells, Put> {
        let name = "\(number)"
        let isTrue = { (lens: Lens) in { @Sendable (cells: Cells) in cells.isTrue(lens) } }
        let payload = { (cell: Int) in { @Sendable (event: Put) in event.payload(cell) } }
        switch form {
        case .lensing(let lens): return .lensing(name, state: lens.value) { _ in self.body(number) }
        case .skippingRepeated(let lens): return .react(name, request: lens.value) { _ in self.body(number) }
        case .firstValueAfterNil(let lens):
            return .firstValueAfterNil(name, state: lens.value) { _ in self.body(number) }
        case .whenBecomesTrue(let lens):
            return .whenBecomesTrue(name, state: isTrue(lens)) { _ in self.body(number) }
        case .whileTrue(let lens): return .whileTrue(name, state: isTrue(lens)) { _ in self.body(number) }
        case .everyState: return .everyState(name) { _ in self.body(number) }
        case .extracting(let cell):
            return .extracting(name, payload: payload(cell)) { _ in self.body(number) }
        case .extractingAndKeeping(let cell):
            return .extractingAndKeeping(name, payload: payload(cell)) { _ in self.body(number) }
        case .skippingRepeatedEvents(let cell):
            return .skippingRepeated(name, events: payload(cell)) { _ in self.body(number) }
        case .skippingRepeatedEventsAndKeeping(let cell):
            return .skippingRepeatedAndKeeping(name, events: payload(cell)) { _ in self.body(number) }
        case .middleware where flaw == .runsMiddlewareForTheInitialState:
            return .switching(
                name, renewal: .always, effect: { _, _ in self.body(number) },
                derive: { state, event in .wanted("\(state) \(event ?? Put(0, 0))") })
        case .middleware: return .middleware(name) { _, _ in self.body(number) }
        case .each:
            return .react(name, requests: Cells.requests) { (_: Int, context) in
                self.body(number, context.updates(of: Int.self))
            }
        case .set:
            let values = { @Sendable (cells: Cells) in Set(Cells.requests(cells).values) }
            return .react(name, requests: values) { _ in self.body(number) }
        case .source: return .source(name) { try await Puppet.current?.live($0, nil) }
        case .custom: return .custom(name) { await self.follow(number, $0, $1) }
        case .input: return .input(name, inputs[number])
        }
    }

    private func policies(_ feedback: Feedback<Cells, Put>, _ spec: ModelFeedback) -> Feedback<Cells, Put> {
        guard let number = Int(feedback.name) else { return feedback }
        var feedback = feedback.retry(
            Retry(
                attemptsMax: spec.attempts, firstDelay: .milliseconds(spec.delay(number)),
                delayMax: .milliseconds(spec.delay(number)), factor: 1, jitter: 0))
        if spec.isLimited { feedback = feedback.timeout(.milliseconds(spec.limit(number))) }
        if let concurrency = spec.concurrency { feedback = feedback.limited(to: concurrency) }
        guard let event = spec.failing else { return feedback }
        switch spec.form {
        case .custom, .input: return feedback
        case .source: return feedback.failing { (_: SourceRequest, _) in event }
        case .middleware: return feedback.failing { (_: Cause<Cells, Put>, _) in event }
        case .whenBecomesTrue, .whileTrue, .everyState: return feedback.failing { (_: Cells, _) in event }
        default: return feedback.failing { (_: Int, _) in event }
        }
    }

    private func modified(_ feedback: Feedback<Cells, Put>, _ modifier: Modifier) -> Feedback<Cells, Put> {
        switch modifier {
        case .part:
            feedback.pullback(
                value: { (whole: Cells) in whole.rotated }, embedEvent: { Put(($0.cell + 1) % 3, $0.value) },
                extractEvent: { [flaw] (whole: Put) in
                    whole.cell == 0 && flaw != .seesForeignEvents ? nil : Put((whole.cell + 2) % 3, whole.value)
                })
        case .present where flaw == .keepsEffectsOfAGonePart: feedback
        case .present(let cell):
            feedback.pullback(
                optionalValue: { (whole: Cells) in whole[cell] == 0 ? nil : whole }, embedEvent: { $0 },
                extractEvent: { (whole: Put) in whole })
        case .optional(let cell):
            feedback.optional().pullback(
                value: { (whole: Cells) in whole[cell] == 0 ? nil : whole }, embedEvent: { $0 },
                extractEvent: { (whole: Put) in whole })
        case .connected(let cell): feedback.autoconnect(followingChangesIn: { $0[cell] != 0 })
        case .mapped where flaw == .seesEventsWhenOnlyMapped:
            feedback.pullback(
                value: { (whole: Cells) in whole }, embedEvent: { Put($0.cell, 3 - $0.value) },
                extractEvent: { (whole: Put) in whole })
        case .mapped:
            feedback.pullback(
                value: { (whole: Cells) in whole }, embedEvent: { Put($0.cell, 3 - $0.value) },
                extractEvent: { (_: Put) in nil })
        }
    }
}

extension Cells {
    /// The cells that are not empty.
    @Sendable static func requests(_ cells: Cells) -> [Int: Int] {
        Dictionary(uniqueKeysWithValues: (0...2).filter { cells[$0] != 0 }.map { ($0, cells[$0]) })
    }
}

/// Passes everything on, but for a flaw, and tells what it saw.
struct RecordingQuery: FeedbackQuery {
    typealias State = Cells
    typealias Event = Put

    var base: any FeedbackQuery<Cells, Put>
    let world: World

    mutating func prepare(feedback: UInt32, coder: (any ValueCoder)?) { base.prepare(feedback: feedback, coder: coder) }

    mutating func advance(
        state: borrowing Lent, event: borrowing Lent, seq: Seq, into changes: inout [EffectChange]
    ) {
        let first = changes.count
        if seq == .initial, world.flaw == .ignoresTheInitialState { return }
        base.advance(state: state, event: event, seq: seq, into: &changes)
        spoil(&changes[first...])
        world.wished(changes[first...])
    }

    private func spoil(_ changes: inout ArraySlice<EffectChange>) {
        func isCancel(_ change: EffectChange) -> Bool { if case .cancel = change { true } else { false } }
        switch world.flaw {
        case .cancelsAfterStarting: changes = ArraySlice(changes.filter { !isCancel($0) } + changes.filter(isCancel))
        case .forgetsToCancel: changes.removeAll(where: isCancel)
        case .doesNotTellUpdates: changes.removeAll { if case .update = $0 { true } else { false } }
        case .startsTwice:
            if case .start(let id, let request) = changes.last {
                let next = EffectID(feedback: id.feedback, seq: id.seq, index: id.index + 1)
                changes.append(.start(next, request: request))
            }
        default: break
        }
    }

    mutating func cancelAll(into changes: inout [EffectChange]) { base.cancelAll(into: &changes) }

    var uncodable: String? { base.uncodable }

    func memory(_ coder: any ValueCoder) throws -> QueryMemory { try base.memory(coder) }

    mutating func restore(_ memory: QueryMemory, state: borrowing Lent, coder: any ValueCoder) throws {
        try base.restore(memory, state: state, coder: coder)
    }

    mutating func adopt(_ memory: QueryMemory, coder: any ValueCoder, into changes: inout [EffectChange]) {
        base.adopt(memory, coder: coder, into: &changes)
    }

    mutating func reconcile(
        state: borrowing Lent, seq: Seq, firstIndex: UInt32, into changes: inout [EffectChange]
    ) {
        base.reconcile(state: state, seq: seq, firstIndex: firstIndex, into: &changes)
    }
}
