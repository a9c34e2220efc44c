import LoopCore
import LoopTesting
import Testing

@testable import LoopExamples

@Suite struct `One refresh for many` {
    private typealias State = TokenRefresh.State
    private typealias CallLoop = TestLoop<State, TokenRefresh.Event>

    private func job(_ call: Int, _ token: Int) -> TokenRefresh.Job {
        .init(call: call, path: "/\(call)", token: .init(token))
    }

    /// A definition whose calls 1 … n are out with token 1.
    private func underWay(_ count: Int) -> TokenRefresh {
        var definition = TokenRefresh()
        definition.initial.session = .valid(.init(1))
        definition.initial.callsCount = count
        for call in 1...count { definition.initial.calls[call] = .init(path: "/\(call)", token: .init(1)) }
        return definition
    }

    @Test func `calls without a token wait for one refresh`() throws {
        try TestLoop.run(TokenRefresh()) { loop in
            try loop.send(.ask("/1")) {
                $0.callsCount = 1
                $0.calls[1] = .init(path: "/1")
                $0.session = .refreshing(old: nil)
            }
            let refresh = try loop.expectStart("refresh", TokenRefresh.Refresh(old: nil))
            try loop.send(.ask("/2")) {
                $0.callsCount = 2
                $0.calls[2] = .init(path: "/2")
            }
            try refresh.complete(sending: .refreshed(.init(1))) {
                $0.session = .valid(.init(1))
                $0.calls[1]?.token = .init(1)
                $0.calls[2]?.token = .init(1)
            }
            let one = try loop.expectStart("call", job(1, 1))
            let two = try loop.expectStart("call", job(2, 1))
            try two.complete(sending: .answered(job(2, 1), .page("b"))) {
                $0.calls[2] = nil
                $0.log = ["2 /2: b"]
            }
            try one.complete(sending: .answered(job(1, 1), .page("a"))) {
                $0.calls[1] = nil
                $0.log = ["2 /2: b", "1 /1: a"]
            }
            // Later calls have the token at once.
            try loop.send(.ask("/3")) {
                $0.callsCount = 3
                $0.calls[3] = .init(path: "/3", token: .init(1))
            }
            try loop.expectStart("call", job(3, 1))
        }
    }

    @Test func `a token that is refused is refreshed once, and who is refused meanwhile waits`() throws {
        try TestLoop.run(underWay(3)) { loop in
            let calls = try (1...3).map { try loop.expectStart("call", job($0, 1)) }
            try calls[0].complete(sending: .answered(job(1, 1), .unauthorized)) {
                $0.session = .refreshing(old: .init(1))
                $0.calls[1] = .init(path: "/1", refusals: 1)
            }
            let refresh = try loop.expectStart("refresh", TokenRefresh.Refresh(old: .init(1)))
            try calls[1].complete(sending: .answered(job(2, 1), .unauthorized)) {
                $0.calls[2] = .init(path: "/2", refusals: 1)
            }
            #expect(refresh.isRunning)
            try refresh.complete(sending: .refreshed(.init(2))) {
                $0.session = .valid(.init(2))
                $0.calls[1]?.token = .init(2)
                $0.calls[2]?.token = .init(2)
            }
            try loop.expectStart("call", job(1, 2))
            try loop.expectStart("call", job(2, 2))
            // The third was out with the old token all the time. It goes out again, and nothing is refreshed.
            try calls[2].complete(sending: .answered(job(3, 1), .unauthorized)) {
                $0.calls[3] = .init(path: "/3", token: .init(2), refusals: 1)
            }
            try loop.expectStart("call", job(3, 2))
            #expect(loop.effects("refresh").isEmpty)
        }
    }

    @Test func `a call whose old token was good is answered while others refresh`() throws {
        try TestLoop.run(underWay(2)) { loop in
            let calls = try (1...2).map { try loop.expectStart("call", job($0, 1)) }
            try calls[0].complete(sending: .answered(job(1, 1), .unauthorized)) {
                $0.session = .refreshing(old: .init(1))
                $0.calls[1] = .init(path: "/1", refusals: 1)
            }
            try loop.expectStart("refresh")
            try calls[1].complete(sending: .answered(job(2, 1), .page("b"))) {
                $0.calls[2] = nil
                $0.log = ["2 /2: b"]
            }
        }
    }

    @Test func `a refresh that fails for good fails those who wait, and the next call tries again`() throws {
        try TestLoop.run(TokenRefresh()) { loop in
            try loop.send(.ask("/1")) {
                $0.callsCount = 1
                $0.calls[1] = .init(path: "/1")
                $0.session = .refreshing(old: nil)
            }
            let refresh = try loop.expectStart("refresh")
            for number in 1...3 {
                try refresh.fail(LostAnswer(number: number))
                if number < 3 {
                    try loop.advance()
                    try loop.expectStart(refresh)
                }
            }
            let reason = "no answer to request 3; try again"
            try loop.expectEvent(.refreshFailed(reason)) {
                $0.session = .none
                $0.calls = [:]
                $0.log = ["1 /1: no token: \(reason)"]
            }
            try loop.send(.ask("/2")) {
                $0.callsCount = 2
                $0.calls[2] = .init(path: "/2")
                $0.session = .refreshing(old: nil)
            }
            try loop.expectStart("refresh")
        }
    }

    @Test func `a call without an answer is tried three times, and is no reason to refresh`() throws {
        try TestLoop.run(underWay(1)) { loop in
            let call = try loop.expectStart("call")
            for number in 1...3 {
                try call.fail(LostAnswer(number: number))
                if number < 3 {
                    try loop.advance()
                    try loop.expectStart(call)
                }
            }
            let reason = "no answer to request 3; try again"
            try loop.expectEvent(.callFailed(job(1, 1), reason)) {
                $0.calls = [:]
                $0.log = ["1 /1: \(reason)"]
            }
        }
    }

    @Test func `a call that three tokens do not open is given up`() throws {
        try TestLoop.run(underWay(1), mode: .withoutStates) { loop in
            for token in 1...2 {
                try loop.expectStart("call", job(1, token)).complete(sending: .answered(job(1, token), .unauthorized))
                try loop.expectStart("refresh").complete(sending: .refreshed(.init(token + 1)))
            }
            try loop.expectStart("call", job(1, 3)).complete(sending: .answered(job(1, 3), .unauthorized)) {
                $0.calls = [:]
                $0.log = ["1 /1: unauthorized"]
            }
            #expect(loop.effects("refresh").isEmpty)
        }
    }

    @Test func `calls and a refresh that are found in the middle go on`() throws {
        var definition = underWay(2)
        definition.initial.session = .refreshing(old: .init(1))
        definition.initial.calls[2] = .init(path: "/2", refusals: 1)
        try TestLoop.run(definition) { loop in
            try loop.expectStart("call", job(1, 1))
            try loop.expectStart("refresh", TokenRefresh.Refresh(old: .init(1))).complete(
                sending: .refreshed(.init(2))
            ) {
                $0.session = .valid(.init(2))
                $0.calls[2]?.token = .init(2)
            }
            try loop.expectStart("call", job(2, 2))
        }
    }

    @Test func `a hundred calls with a worn out token lead to one refresh`() async {
        let clock = VirtualClock()
        let server = StubTokenServer(clock: clock)
        let loop = Loop(TokenRefresh(server: server), clock: clock)
        loop.send(.ask("/first"))
        clock.advance(by: .seconds(10))
        #expect(loop.state.log == ["1 /first: read with token 1"])
        for number in 2...101 { loop.send(.ask("/\(number)")) }
        clock.advance(by: .milliseconds(400))
        #expect(loop.state.session == .refreshing(old: .init(1)) && loop.state.calls.count == 100)
        clock.advance(by: .milliseconds(400))
        #expect(loop.state.session == .valid(.init(2)))
        clock.advance(by: .milliseconds(400))
        #expect(loop.state.calls.isEmpty && loop.state.log.count == 12)
        #expect(loop.state.log.allSatisfy { $0.hasSuffix("read with token 2") })
        #expect(await server.refreshes == 2)
    }
}
