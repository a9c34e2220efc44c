package import LoopCore

/// Many requests to a service that requires a token, and one refresh for all of them when it has expired.
///
/// The state ensures that there is only one refresh: the session either has a token or is being refreshed, and the calls
/// that were refused wait in it meanwhile. There is no lock, no queue, and no task for which others wait.
///
/// If a worker dies with a call or with the refresh, the effect runs again elsewhere. A refresh of one old token always
/// gives one new token.
package struct TokenRefresh: LoopDefinition {
    /// The service's answer to a call.
    package enum Answer: Codable, Equatable, Sendable {
        case page(String)
        /// 401: the token is no longer valid.
        case unauthorized

        private enum CodingKeys: CodingKey, CaseIterable { case page, unauthorized }
    }

    package enum Event: Codable, Equatable, Sendable {
        /// The user requests a page.
        case ask(String)

        // Events of the effects.
        case answered(Job, Answer)
        case callFailed(Job, String)
        case refreshed(Token)
        case refreshFailed(String)

        private enum CodingKeys: CodingKey, CaseIterable { case ask, answered, callFailed, refreshed, refreshFailed }
    }

    package static let examples: [Event] = {
        let job = Job(call: 1, path: "/account", token: Token(1))
        return [
            .ask("/account"), .answered(job, .page("balance: 5")), .answered(job, .unauthorized),
            .callFailed(job, "connection refused"), .refreshed(Token(2)), .refreshFailed("connection refused"),
        ]
    }()

    package static let name = "token-refresh"
    package static let abstract = "Many requests share one refresh of their token."

    package var initial = State()
    private let server: any TokenServer

    package init(server: any TokenServer = StubTokenServer()) { self.server = server }

    package func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .ask(let path): state.ask(path)
        case .answered(let job, .page(let text)): state.end(job.call, text)
        case .answered(let job, .unauthorized): state.refuse(job)
        case .callFailed(let job, let reason): state.end(job.call, reason)
        case .refreshed(let token): state.refreshed(token)
        case .refreshFailed(let reason): state.refreshFailed(reason)
        }
    }

    package var feedbacks: [Feedback<State, Event>] {
        [
            .react("refresh", request: \.refresh) { [server] refresh in
                .task { .refreshed(try await server.token(after: refresh.old)) }
            }
            .on(.workers)
            .retry(Self.retry)
            .failing { (_: Refresh, error) in .refreshFailed("\(error)") },
            .react("call", requests: \.jobs) { [server] job in
                .task { .answered(job, try await server.page(job.path, token: job.token)) }
            }
            .on(.workers)
            .retry(Self.retry)
            .failing { (job: Job, error) in .callFailed(job, "\(error)") },
        ]
    }

    /// After this many refused tokens, a call has failed.
    static let refusalsMax = 3
    static let logMax = 12
    private static let retry = Retry.exponential(max: 3)
}
