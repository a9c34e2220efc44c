import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

@Suite struct `Dispatch alone` {
    private static let retry = EffectPolicy(
        retry: Retry(attemptsMax: 2, firstDelay: .seconds(1), delayMax: .seconds(1), jitter: 0), timeout: .seconds(5))
    private let effect = EffectID(feedback: 0, seq: Seq(1), index: 0)
    private let attempt = Attempt(epoch: 1, count: 1)

    /// One lamp is to burn, and waits for a worker.
    private func lit(_ policy: EffectPolicy = retry) throws -> (PartBench, Dispatch) {
        var bench = try PartBench(policy: policy)
        try bench.apply(.light("a", 1))
        var dispatch = Dispatch(seed: 1)
        dispatch.begin(bench.journaled.table)
        let place = try #require(bench.journaled.effects.index(forKey: effect))
        dispatch.schedule(effect, at: place, bench.journaled, bench.context)
        return (bench, dispatch)
    }

    @Test func `grants an effect to the member with the smallest share in use, once`() throws {
        var (bench, dispatch) = try lit()
        let idle = try bench.join(alice, capacity: 2)
        let other = try bench.join(bob, capacity: 2)
        dispatch.grant(to: &bench.admission.members, bench.journaled, bench.context)
        dispatch.grant(to: &bench.admission.members, bench.journaled, bench.context)
        let place = try #require(bench.journaled.effects.index(forKey: effect))
        #expect(dispatch.owner(at: place) == Ownership(session: idle, attempt: attempt))
        #expect(dispatch.owns(idle, attempt, place) && !dispatch.owns(other, attempt, place))
        #expect(
            dispatch.grants(of: idle, bench.admission.members, bench.journaled).map(\.attempt) == [attempt])
        #expect(bench.admission.members.awaitingCommands(window: 1) == [idle])
    }

    @Test func `grants nothing to a member that has not claimed`() throws {
        var (bench, dispatch) = try lit()
        _ = try bench.requestJoin(alice)
        dispatch.grant(to: &bench.admission.members, bench.journaled, bench.context)
        #expect(bench.admission.members.awaitingCommands(window: 1) == [])
    }

    @Test func `ends an attempt once, with the record that voids it, and grants it again after its delay`() throws {
        var (bench, dispatch) = try lit()
        let session = try bench.join(alice)
        dispatch.grant(to: &bench.admission.members, bench.journaled, bench.context)
        let outcome = AttemptOutcome(.failed, retryIn: .seconds(1), message: "no bulb")
        let end = dispatch.end(effect, outcome, &bench.admission.members, bench.journaled, bench.context)
        #expect(
            end
                == AttemptEnd(
                    effect: effect, upTo: attempt, cause: .failed,
                    next: .retry(RetryTime(notBefore: WallTime(milliseconds: 11_000), wait: 1000)),
                    message: "no bulb"))
        #expect(dispatch.end(effect, outcome, &bench.admission.members, bench.journaled, bench.context) == nil)
        #expect(bench.admission.members[session]?.holding.count == 0)
        try bench.journaled.apply(.attemptEnded(try #require(end)))
        dispatch.grant(to: &bench.admission.members, bench.journaled, bench.context)
        #expect(dispatch.startDeadline(after: bench.now) == bench.now + .seconds(1))
        bench.pass(1000)
        dispatch.grant(to: &bench.admission.members, bench.journaled, bench.context)
        let place = try #require(bench.journaled.effects.index(forKey: effect))
        #expect(dispatch.owner(at: place)?.attempt == Attempt(epoch: 1, count: 2))
    }

    @Test func `parks what has failed as often as its policy allows, or for good`() throws {
        var (_, dispatch) = try lit()
        let entry = EntryNumber(session: SessionID(1), number: 3)
        let failure = Failure(message: "no bulb", retryAfter: .seconds(9))
        #expect(
            dispatch.outcome(of: failure, failures: 0, Self.retry, entry: entry)
                == AttemptOutcome(.failed, retryIn: .seconds(9), message: "no bulb", entry: entry))
        #expect(dispatch.outcome(of: failure, failures: 1, Self.retry, entry: entry).retryIn == nil)
        let final = Failure(message: "no lamp", isFinal: true)
        #expect(dispatch.outcome(of: final, failures: 0, Self.retry, entry: entry).retryIn == nil)
    }

    @Test func `finds an attempt that takes too long, and none that has ended`() throws {
        var (bench, dispatch) = try lit()
        _ = try bench.join(alice)
        dispatch.grant(to: &bench.admission.members, bench.journaled, bench.context)
        #expect(dispatch.attemptDeadline == bench.now + .seconds(5))
        #expect(dispatch.nextTimedOut(bench.journaled.effects, at: bench.now + .milliseconds(4999)) == nil)
        var ended = dispatch
        _ = ended.end(effect, AttemptOutcome(.released), &bench.admission.members, bench.journaled, bench.context)
        #expect(ended.nextTimedOut(bench.journaled.effects, at: bench.now + .seconds(5)) == nil)
        let late = dispatch.nextTimedOut(bench.journaled.effects, at: bench.now + .seconds(5))
        #expect(late?.effect == effect && late?.attempt == attempt)
    }

    @Test func `takes from a silent member only what another can run`() throws {
        var (bench, dispatch) = try lit()
        let session = try bench.join(alice)
        dispatch.grant(to: &bench.admission.members, bench.journaled, bench.context)
        func look() -> Dispatch.SilentHoldings? {
            let found = dispatch.silentHoldings(bench.admission.members, bench.journaled, at: bench.now)
            if let found { dispatch.noteStranded(found, bench.admission.members, at: bench.now) }
            return found
        }
        #expect(look() == nil)
        bench.pass(3000)
        #expect(look() == Dispatch.SilentHoldings(taken: [], stranded: [0]))
        #expect(look() == nil)
        _ = try bench.join(bob)
        #expect(look()?.taken == [.init(session: session, effect: effect, attempt: attempt)])
    }

    @Test func `adopts an attempt of an earlier epoch, and none that is void`() throws {
        var (bench, dispatch) = try lit()
        let session = try bench.join(alice)
        let void = ClaimedAttempt(effect: effect, attempt: .none)
        #expect(dispatch.adopt(void, by: session, &bench.admission.members, bench.journaled, bench.context) == false)
        let claim = ClaimedAttempt(effect: effect, attempt: Attempt(epoch: 1, count: 9))
        #expect(dispatch.adopt(claim, by: session, &bench.admission.members, bench.journaled, bench.context) == false)
        try bench.journaled.apply(.epochBegun(Epoch(number: 2, nonce: 8), WallTime(milliseconds: 10_000)))
        #expect(dispatch.adopt(claim, by: session, &bench.admission.members, bench.journaled, bench.context) == true)
        #expect(dispatch.adopt(claim, by: session, &bench.admission.members, bench.journaled, bench.context) == false)
        #expect(dispatch.effects(heldBy: session, bench.admission.members, bench.journaled.effects) == [effect])
    }
}
