/// A service that answers calls with a valid token, and that issues tokens.
package protocol TokenServer: Sendable {
    /// The page, or what is wrong with the token.
    /// - Throws: anything if there is no answer.
    func page(_ path: String, token: TokenRefresh.Token) async throws -> TokenRefresh.Answer

    /// A token that replaces an expired one, or the first token for nil. Equal expired tokens give equal new ones.
    /// - Throws: anything if there is no answer.
    func token(after old: TokenRefresh.Token?) async throws -> TokenRefresh.Token
}

/// A service in memory, whose tokens are valid for a few seconds.
package actor StubTokenServer: TokenServer {
    /// How often a token was requested.
    package private(set) var refreshes = 0
    private var newest = TokenRefresh.Token(0)
    private let lifetime: Duration
    private let line: StubLine
    private let elapsed: @Sendable () -> Duration
    private var expiry = Duration.zero

    package init<C: Clock<Duration>>(
        latency: Duration = .milliseconds(400), lifetime: Duration = .seconds(5), losing: Int? = nil,
        clock: C = ContinuousClock()
    ) {
        line = StubLine(latency: latency, losing: losing, clock: clock)
        self.lifetime = lifetime
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
    }

    package func page(_ path: String, token: TokenRefresh.Token) async throws -> TokenRefresh.Answer {
        try await line.ask { await self.isGood(token) ? .page("read with token \(token)") : .unauthorized }
    }

    package func token(after old: TokenRefresh.Token?) async throws -> TokenRefresh.Token {
        try await line.ask { await self.next(after: old ?? TokenRefresh.Token(0)) }
    }

    private func isGood(_ token: TokenRefresh.Token) -> Bool {
        meet(token)
        return token == newest && elapsed() < expiry
    }

    private func next(after old: TokenRefresh.Token) -> TokenRefresh.Token {
        refreshes += 1
        // The number comes from a request, and no number may stop the service.
        meet(TokenRefresh.Token(old.number &+ 1))
        return newest
    }

    /// Begins the life of a token that is newer than all before, even if another process has issued it.
    private func meet(_ token: TokenRefresh.Token) {
        guard token.number > newest.number else { return }
        newest = token
        expiry = elapsed() + lifetime
    }
}
