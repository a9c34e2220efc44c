package import LoopCore

/// A search with pages. It starts once the user pauses typing, no more often than a rate allows, and waits longer if the
/// server requests it.
///
/// Three things limit the load of the server, and none of them is in the reducer. The pause after a keystroke is an effect that the
/// next keystroke cancels. The rate is part of the feedback's policy, and so is the back-off after 429, 5xx or a lost connection.
package struct MovieSearch: LoopDefinition {
    package static let name = "search"
    package static let abstract = "Search films as you type, page by page, with a rate limit and back-off."

    /// How long the user must pause typing.
    package static let rest = Duration.milliseconds(300)

    /// The root URL of the server, with its closing slash.
    package let server: String
    private let clock: any Clock<Duration>

    /// - Parameter clock: the clock that measures the pause.
    package init(server: String = "", clock: any Clock<Duration> = ContinuousClock()) {
        self.server = server
        self.clock = clock
    }

    package var initial: State { State(server: server) }

    package func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .typed(let text): state.text = text
        case .rested(let query): state.begin(query)
        case .more: if state.status == .idle, state.hasMore { state.status = .loading }
        case .retry: if case .failed = state.status { state.status = .loading }
        case .loaded(let answer):
            state.batch = answer.batch
            state.movies += answer.movies
            state.status = .idle
        case .postponed(let reason): state.status = .postponed(reason)
        case .failed(let reason): state.status = .failed(reason)
        }
    }

    package var feedbacks: [Feedback<State, Event>] {
        [
            .react("rest", request: \.typing) { [clock] (text: String) in
                .task {
                    try await clock.sleep(for: Self.rest)
                    return .rested(text)
                }
            },
            .react("page", request: \.nextPage) { (page: PageRequest) in
                .run { send in try await Self.fetch(page, send) }
            }
            .policy(Self.policy)
            .on(.workers)
            .failing { (_: PageRequest, error) in .failed("\(error)") },
        ]
    }

    /// Five starts a second and five attempts, with growing delays, or longer ones if the server requests it.
    static let policy = EffectPolicy(
        retry: .exponential(max: 5, first: .milliseconds(500), longest: .seconds(10)),
        rate: RateLimit(perSecond: 5, burst: 2))

    @Sendable private static func fetch(_ page: PageRequest, _ send: Send<Event>) async throws {
        do {
            try await send(.loaded(try await JSONResource.get(page.url, as: Movies.Answer.self)))
        } catch let failure as ServerFailure where failure.isTransient {
            // For people. The error below informs the policy.
            try await send(.postponed(failure.description))
            throw failure
        }
    }
}
