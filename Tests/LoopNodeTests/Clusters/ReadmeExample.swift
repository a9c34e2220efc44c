import LoopCore

/// Counts the primes below 100,000: a hundred effects, each run by whichever worker is free.
struct Primes: LoopDefinition {
    struct State: Codable, Sendable, Equatable {
        var waiting = Set(0..<100)
        var found = 0
    }
    enum Event: Codable, Sendable { case counted(block: Int, primes: Int) }

    static let name = "primes"
    let initial = State()

    /// What happened changes the state, and nothing else does.
    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .counted(let block, let primes):
            state.waiting.remove(block)
            state.found += primes
        }
    }

    /// What should be going on is a function of the state: one effect for each block that waits.
    var feedbacks: [Feedback<State, Event>] {
        [
            .react("count", requests: \.waiting) { block in
                .run { send in try await send(.counted(block: block, primes: primes(in: block))) }
            }
            .on(.workers)
        ]
    }

    func outcome(of state: State) -> Outcome? {
        state.waiting.isEmpty ? Outcome(text: "\(state.found) primes below 100,000") : nil
    }
}

/// How many primes the thousand numbers of a block hold.
private func primes(in block: Int) -> Int {
    (block * 1000..<(block + 1) * 1000).count { number in
        number > 1 && (2..<number).lazy.prefix { $0 * $0 <= number }.allSatisfy { number % $0 != 0 }
    }
}
