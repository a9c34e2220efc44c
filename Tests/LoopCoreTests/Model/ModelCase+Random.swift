import LoopCore

extension ModelCase {
    /// The case of a seed, the same on every machine.
    init(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        self.init(random: &random)
    }

    private init(random: inout SeededRandom) {
        let count = Int.random(in: 1...3, using: &random)
        feedbacks = (0..<count).map { _ in ModelFeedback(random: &random) }
        initial = Cells(random.value(), random.value(), random.value())
        reactions = []
        steps = []
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            reactions.append(Reaction(feedbacks: count, random: &random))
        }
        for _ in 0..<Int.random(in: 3...12, using: &random) {
            steps.append(Step(feedbacks: count, random: &random))
        }
    }
}

extension SeededRandom {
    fileprivate mutating func value() -> Int { Int.random(in: 0...3, using: &self) }
    fileprivate mutating func cell() -> Int { Int.random(in: 0...2, using: &self) }
    fileprivate mutating func put() -> Put { Put(cell(), value()) }
    fileprivate mutating func isTrue(_ chance: Double) -> Bool { fraction() < chance }
    fileprivate mutating func puts() -> [Put] { (0..<Int.random(in: 1...3, using: &self)).map { _ in put() } }
    fileprivate mutating func lens() -> Lens { isTrue(0.8) ? .cell(cell()) : .sum }
}

extension ModelFeedback {
    fileprivate init(random: inout SeededRandom) {
        let cell = random.cell()
        let lens = random.lens()
        let forms: [Form] = [
            .lensing(lens), .skippingRepeated(lens), .skippingRepeated(lens), .firstValueAfterNil(lens),
            .whenBecomesTrue(lens), .whileTrue(lens), .everyState, .extracting(cell), .extractingAndKeeping(cell),
            .skippingRepeatedEvents(cell), .skippingRepeatedEventsAndKeeping(cell), .middleware, .each, .each, .set,
            .source, .custom, .input,
        ]
        let form = forms[Int.random(in: 0..<forms.count, using: &random)]
        self.init(form, random.isTrue(0.5) ? .task : .events(random.puts()))
        while random.isTrue(0.3) {
            let all: [Modifier] = [
                .part, .present(random.cell()), .optional(random.cell()), .connected(random.cell()), .mapped,
            ]
            modifiers.append(all[Int.random(in: 0..<all.count, using: &random)])
        }
        if random.isTrue(0.3) { attempts = Int.random(in: 2...3, using: &random) }
        isLimited = random.isTrue(0.2)
        if random.isTrue(0.2) { failing = random.put() }
        if random.isTrue(0.15) { concurrency = Int.random(in: 1...2, using: &random) }
        normalize()
    }

    /// What a form does not have is taken away.
    mutating func normalize() {
        switch form {
        case .custom, .input:
            body = .events([])
            (attempts, isLimited, failing, concurrency) = (1, false, nil, nil)
        case .source: body = .task
        default: break
        }
        // Events of an effect that starts at no promised place have no promised place either.
        if concurrency != nil { body = .task }
        // It cannot be known from outside when an input is attached again.
        if form == .input { modifiers.removeAll { $0 != .part && $0 != .mapped } }
        if body != .task { (attempts, isLimited, failing) = (1, false, nil) }
    }
}

extension Reaction {
    fileprivate init(feedbacks: Int, random: inout SeededRandom) {
        let feedback = Int.random(in: 0..<feedbacks, using: &random)
        let other = Int.random(in: 0..<feedbacks, using: &random)
        let place: Place = random.isTrue(0.5) ? .reducing(random.put()) : .starting(feedback)
        let deeds: [Deed] = [
            .send(random.put()), .send(random.put()), .send(random.put()), .subscribe,
            .sendAs(other, back: Int.random(in: 0...1, using: &random), random.put()), .stop,
        ]
        self.init(place, deeds[Int.random(in: 0..<deeds.count, using: &random)])
    }
}

extension Step {
    fileprivate init(feedbacks: Int, random: inout SeededRandom) {
        let feedback = Int.random(in: 0..<feedbacks, using: &random)
        let back = random.isTrue(0.7) ? 0 : Int.random(in: 1...3, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<45: self = .send(random.put())
        case 45..<50: self = .mutate(random.cell(), random.value())
        case 50..<54: self = .subscribe
        case 54..<58: self = .read(Int.random(in: 0...2, using: &random), random.put())
        case 58..<64: self = .effect(feedback, back: back, .send(random.puts()))
        case 64..<68: self = .effect(feedback, back: back, .confirm(random.put()))
        case 68..<73: self = .effect(feedback, back: back, .complete)
        case 73..<80: self = .effect(feedback, back: back, .fail)
        case 80..<84: self = .effect(feedback, back: back, .takeUpdate)
        case 84..<88: self = .custom(feedback, random.put())
        case 88..<91: self = .input(feedback, random.put())
        case 91..<97: self = .advance
        case 97..<99: self = .retryParked(feedback)
        default: self = .stop
        }
    }
}
