import LoopCore
import LoopExamples
import LoopSimulation
import Testing

@Suite struct `One refresh for many in a cluster` {
    @Test(arguments: 0..<15 as Range<UInt64>)
    func `every call has an answer and every token one refresh, whatever fails`(seed: UInt64) throws {
        let cluster = SimulatedCluster(TokenRefresh(), seed: seed)
        cluster.answer("refresh") {
            (refresh: TokenRefresh.Refresh, effect: inout SimulatedEffect<TokenRefresh.Event>) in
            effect.pause(upTo: .seconds(1))
            effect.send(.refreshed(.init((refresh.old?.number ?? 0) + 1)))
        }
        cluster.answer("call") { (job: TokenRefresh.Job, effect: inout SimulatedEffect<TokenRefresh.Event>) in
            effect.pause(upTo: .seconds(1))
            // One call in four finds its token worn out.
            let isGood = Int.random(in: 0..<4, using: &effect.random) > 0
            effect.send(.answered(job, isGood ? .page("ok") : .unauthorized))
        }
        cluster.client(every: .milliseconds(400)) { random in .ask("/\(random.next() % 100)") }
        cluster.invariant("who waits, waits for a refresh") { state in
            if case .valid = state.session { state.calls.values.allSatisfy { $0.token != nil } } else { true }
        }
        cluster.invariant("no token is newer than the newest") { state in
            let newest: Int
            switch state.session {
            case .none: newest = 0
            case .refreshing(let old): newest = old?.number ?? 0
            case .valid(let token): newest = token.number
            }
            return state.calls.values.allSatisfy { ($0.token?.number ?? 0) <= newest }
        }
        let end = try cluster.run()
        #expect(end.state.calls.isEmpty)
        #expect(end.state.callsCount == end.events.count { if case .ask = $0 { true } else { false } })
        // One after the other, each for the token before it.
        let tokens = end.events.compactMap { if case .refreshed(let token) = $0 { token.number } else { nil } }
        #expect(tokens == Array(1..<(tokens.count + 1)))
        #expect(end.state.callsCount == 0 || !tokens.isEmpty)
    }
}
