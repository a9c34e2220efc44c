import LoopCore

/// Everything large at once: many entries in the state, and as many effects, which tell of their start and then wait.
struct Crowd: LoopDefinition {
    struct State: Codable, Sendable {
        var films: TrackedDictionary<Int, Catalogue.Film> = [:]
        var jobs: TrackedDictionary<Int, Int> = [:]
        /// How often each effect has begun: again where its worker was not heard of in time.
        var starts: TrackedDictionary<Int, Int> = [:]
        var counts = Counts()
        var isOver = false
    }

    /// What observers follow.
    struct Counts: Codable, Sendable, Equatable {
        var films = 0
        /// Effects that have begun, and the sum of their numbers.
        var started = 0
        var sum = 0
        var startedAgain = 0
        var votes = CountingState()
    }

    enum Event: Codable, Sendable {
        case add(Int)
        case begin(Int)
        case started(Int)
        case vote(UInt64)
        case finish
    }

    static let name = "bench-crowd"

    let initial = State()

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .add(let count):
            for number in state.films.count..<state.films.count + count { state.films[number] = .numbered(number) }
            state.counts.films = state.films.count
        case .begin(let count): for number in 0..<count { state.jobs[number] = number }
        case .started(let number):
            state.starts[number, default: 0] += 1
            guard state.starts[number] == 1 else {
                state.counts.startedAgain += 1
                return
            }
            state.counts.started += 1
            state.counts.sum += number
        case .vote(let number): state.counts.votes.apply(number)
        case .finish: state.isOver = true
        }
    }

    var feedbacks: [Feedback<State, Event>] {
        [
            .react("jobs", requests: \.jobs) { number in
                .run { send in
                    try await send(.started(number))
                    try await Task.sleep(for: .seconds(86_400))
                }
            }
            .on(.workers)
        ]
    }

    var sections: [StateSection<State>] { [StateSection("counts", \.counts)] }

    func outcome(of state: State) -> Outcome? {
        let (counts, votes) = (state.counts, state.counts.votes)
        guard state.isOver else { return nil }
        return Outcome(
            text: "\(counts.films) \(counts.started) \(counts.sum) \(votes.applied) \(votes.disorder)"
                + " \(counts.startedAgain)")
    }
}
