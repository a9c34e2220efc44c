extension TokenRefresh {
    /// A token gives access to the service for a while; each has a number. A real one would be a secret, which has no place
    /// in a state that is journaled and observed: keep it where the effects are, and its number here.
    public struct Token: Codable, Hashable, Sendable, CustomStringConvertible {
        public var number: Int

        public init(_ number: Int) { self.number = number }

        public var description: String { "\(number)" }
    }

    /// Whether there is a token.
    public enum Session: Codable, Equatable, Sendable {
        /// There is no token, and no call needs one.
        case none
        /// A token is on its way, in place of this one.
        case refreshing(old: Token?)
        case valid(Token)
    }

    /// A request that has no answer yet.
    public struct Call: Codable, Equatable, Sendable {
        public var path: String
        /// The token that it goes out with; nil: it waits for one.
        public var token: Token?
        /// How many tokens were refused.
        public var refusals: Int

        public init(path: String, token: Token? = nil, refusals: Int = 0) {
            self.path = path
            self.token = token
            self.refusals = refusals
        }
    }

    /// A call that goes out: the request to the workers.
    public struct Job: Codable, Hashable, Sendable {
        public var call: Int
        public var path: String
        public var token: Token

        public init(call: Int, path: String, token: Token) {
            self.call = call
            self.path = path
            self.token = token
        }
    }

    public struct State: Codable, Equatable, Sendable {
        public var session = Session.none
        /// By number, from 1.
        public var calls: [Int: Call] = [:]
        public var callsCount = 0
        /// What has become of the calls that are over, the newest last: as many as fit on a page.
        public var log: [String] = []

        public init() {}

        // What should be going on.

        /// The refresh: nil where there is none. There are never two, since there is one session.
        var refresh: Refresh? {
            if case .refreshing(let old) = session { Refresh(old: old) } else { nil }
        }

        /// The calls that have a token. With another token it is another job; so this is a set and no dictionary, in which
        /// a call that goes out again would be the old effect with a newer request.
        var jobs: Set<Job> {
            Set(
                calls.compactMap { number, call in
                    call.token.map { Job(call: number, path: call.path, token: $0) }
                })
        }
    }

    /// The request for a new token in place of an expired one.
    public struct Refresh: Codable, Equatable, Sendable {
        public var old: Token?

        public init(old: Token?) { self.old = old }
    }
}

extension TokenRefresh.State {
    mutating func ask(_ path: String) {
        callsCount += 1
        calls[callsCount] = TokenRefresh.Call(path: path)
        sendOut(callsCount)
    }

    /// A call's token was refused. The first to say so begins the refresh; the others wait for it. One that comes late, with a
    /// token that was replaced meanwhile, goes out again at once.
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

    /// A call goes out if there is a token. Otherwise it waits for the refresh, which it starts if none runs.
    private mutating func sendOut(_ number: Int) {
        switch session {
        case .none: session = .refreshing(old: nil)
        case .refreshing: break
        case .valid(let token): calls[number]?.token = token
        }
    }
}
