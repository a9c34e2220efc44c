extension TokenRefresh {
    /// A token gives access to the service for a while, and has a number. A real token is a secret, and must not be in a
    /// state that is journaled and observed: keep it in the process of the effects, and only its number here.
    package struct Token: Codable, Hashable, Sendable, CustomStringConvertible {
        package var number: Int

        package init(_ number: Int) { self.number = number }

        package var description: String { "\(number)" }
    }

    /// The condition of the token.
    package enum Session: Codable, Equatable, Sendable {
        /// There is no token, and no call needs one.
        case none
        /// A token that replaces this one is being fetched.
        case refreshing(old: Token?)
        case valid(Token)

        private enum CodingKeys: CodingKey, CaseIterable { case none, refreshing, valid }
    }

    /// A request that has no answer yet.
    package struct Call: Codable, Equatable, Sendable {
        package var path: String
        /// The token with which the call is sent, or nil while it waits for one.
        package var token: Token?
        /// How many tokens were refused.
        package var refusals = 0
    }

    /// A call that is sent: the request to the workers.
    package struct Job: Codable, Hashable, Sendable {
        package var call: Int
        package var path: String
        package var token: Token
    }

    package struct State: Codable, Equatable, Sendable {
        package var session = Session.none
        /// The open calls by number, from 1.
        package var calls: [Int: Call] = [:]
        package var callsCount = 0
        /// The results of finished calls, the newest last, as many as fit on a page.
        package var log: [String] = []

        // The requests.

        /// The refresh, or nil if there is none. There are never two, because there is one session.
        var refresh: Refresh? {
            if case .refreshing(let old) = session { Refresh(old: old) } else { nil }
        }

        /// The calls that have a token. A call with another token is another job, so this is a set. In a dictionary, a
        /// repeated call would be the old effect with a newer request.
        var jobs: Set<Job> {
            Set(
                calls.compactMap { number, call in
                    call.token.map { Job(call: number, path: call.path, token: $0) }
                })
        }
    }

    /// The request for a token that replaces an expired one.
    package struct Refresh: Codable, Equatable, Sendable {
        package var old: Token?
    }
}

extension TokenRefresh.State {
    mutating func ask(_ path: String) {
        callsCount += 1
        calls[callsCount] = TokenRefresh.Call(path: path)
        sendOut(callsCount)
    }

    /// Handles a refused token. The first refused call begins the refresh, and others wait for it. A late one, whose token
    /// was replaced meanwhile, is sent again at once.
    mutating func refuse(_ job: TokenRefresh.Job) {
        guard var call = calls[job.call], call.token == job.token else { return }
        call.token = nil
        call.refusals += 1
        calls[job.call] = call
        if call.refusals == TokenRefresh.refusalsMax { return end(job.call, "unauthorized") }
        if session == .valid(job.token) { session = .refreshing(old: job.token) }
        sendOut(job.call)
    }

    mutating func refreshed(_ token: TokenRefresh.Token) {
        session = .valid(token)
        for number in waiting { sendOut(number) }
    }

    mutating func refreshFailed(_ reason: String) {
        session = .none
        for number in waiting { end(number, "no token: \(reason)") }
    }

    mutating func end(_ number: Int, _ answer: String) {
        guard let call = calls.removeValue(forKey: number) else { return }
        log.append("\(number) \(call.path): \(answer)")
        if log.count > TokenRefresh.logMax { log.removeFirst() }
    }

    private var waiting: [Int] { calls.keys.sorted().filter { calls[$0]?.token == nil } }

    /// Sends a call if there is a token. Otherwise the call waits for the refresh, and starts one if none runs.
    private mutating func sendOut(_ number: Int) {
        switch session {
        case .none: session = .refreshing(old: nil)
        case .refreshing: break
        case .valid(let token): calls[number]?.token = token
        }
    }
}
