import LoopCore

/// A large state: films in a tracked dictionary, a hundred bytes each. An event votes for one of them. Every eighth asks for
/// a check too, by a keyed feedback that no worker serves, and gives up the oldest check.
struct Catalogue: LoopDefinition {
    struct Film: Codable, Equatable, Sendable {
        var title: String
        var votes: Int
    }

    struct State: Codable, Sendable {
        var films: TrackedDictionary<Int, Film> = [:]
        var checks: TrackedDictionary<Int, Int> = [:]
        var votes = CountingState()
        var isOver = false
    }

    enum Event: Codable, Sendable {
        /// Adds films behind those that are there.
        case add(Int)
        case vote(number: UInt64, film: Int)
        case finish
    }

    static let name = "bench-catalogue"
    static let checksCount = 64

    let initial = State()
    /// Called for each vote.
    var onVote: @Sendable () -> Void = {}

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .add(let count):
            for number in state.films.count..<state.films.count + count { state.films[number] = .numbered(number) }
        case .vote(let number, let film):
            onVote()
            state.votes.apply(number)
            state.films[film]?.votes += 1
            guard number % 8 == 0 else { return }
            state.checks[film] = Int(truncatingIfNeeded: number)
            if state.checks.count > Self.checksCount, let oldest = state.checks.first {
                state.checks[oldest.key] = nil
            }
        case .finish: state.isOver = true
        }
    }

    var feedbacks: [Feedback<State, Event>] {
        [.react("checks", requests: \.checks) { (_: Int) -> Effect<Event> in .none }.on(.workers)]
    }

    func outcome(of state: State) -> Outcome? {
        guard state.isOver else { return nil }
        return Outcome(text: "\(state.films.count) \(state.votes.applied) \(state.votes.disorder)")
    }
}

extension Catalogue.Film {
    /// A hundred bytes with its key, more or less.
    static func numbered(_ number: Int) -> Self {
        Self(
            title: "The film with the number \(number), of which nothing is known but that its title is rather long",
            votes: 0)
    }
}
