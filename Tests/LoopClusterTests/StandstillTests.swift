import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `A reducer that stood still` {
    /// The machine was suspended over night: the steady clock counts that too.
    @Test func `does not hold it against idle peers, whose sessions it keeps`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        _ = try bench.send(session, from: 1, .note)
        bench.turn(after: 26 * 3600 * 1000)
        #expect(bench.machine.journaled.sessions[session] != nil)
        // It is heard again, and goes on.
        _ = try bench.send(session, from: 2, .note)
        #expect(bench.state.notes == 2)
    }

    @Test func `retires those that are silent for as long while it listens`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        for _ in 0..<(24 * 3600 - 1) { bench.turn(after: 1000) }
        #expect(bench.machine.journaled.sessions[session] != nil)
        // The reducer looks for idle sessions once a minute.
        for _ in 0..<62 { bench.turn(after: 1000) }
        #expect(bench.machine.journaled.sessions[session] == nil)
    }

    /// The grace lasts for the time in which workers can be heard.
    @Test func `does not hold it against workers that have not claimed yet`() throws {
        var bench = try ReducerBench()
        bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(try bench.send(sender, from: 1, .light("a", 1)).grants.first)
        var again = try ReducerBench(replaying: bench.records, at: 20_000)
        let other = again.join(bob)
        again.turn(after: 3_600_000)
        #expect(again.say(again.heartbeat(other), from: bob, after: 10).grants == [])
        let worker = again.join(alice, claiming: [ClaimedAttempt(effect: grant.effect, attempt: grant.attempt)])
        _ = again.push(again.batch(worker, from: 1, [try again.event(.note, of: (grant.effect, grant.attempt))]))
        #expect(again.state.notes == 1)
    }

    /// What a member has lost by the standstill is given back, and no more.
    @Test func `extends a lease to the limit from now, and not beyond`() throws {
        var bench = try ReducerBench()
        bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        _ = try bench.send(sender, from: 1, .light("a", 1))
        let other = bench.join(bob)
        bench.turn(after: 3_600_000)
        var grants: [Grant] = []
        for _ in 0..<5 { grants += bench.say(bench.heartbeat(other), from: bob, after: 500).grants }
        #expect(grants == [])
        for _ in 0..<2 { grants += bench.say(bench.heartbeat(other), from: bob, after: 500).grants }
        #expect(grants.map(\.attempt) == [Attempt(epoch: 1, count: 2)])
    }
}

@Suite struct `A refused entry` {
    /// The floor is all attempts up to one: an entry of some session that named this effect and a later grant, which was another
    /// effect's, took the effect away from its worker.
    @Test func `that names another effect's newer attempt takes nothing from the attempt that holds the effect`() throws
    {
        var bench = try ReducerBench()
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let first = try #require(try bench.send(sender, from: 1, .light("a", 1)).grants.first)
        let second = try #require(try bench.send(sender, from: 2, .light("b", 1)).grants.first)
        let other = bench.join(bob, capacity: 0)
        let answer = bench.push(
            bench.batch(other, from: 1, [try bench.event(.note, of: (first.effect, second.attempt))]))
        #expect(answer.messages(to: bob).contains(acknowledged(0, 1, refused(1, .attempt))))
        let floor = try #require(bench.machine.journaled.effects[first.effect]?.floor)
        #expect(floor < first.attempt)
        _ = bench.push(bench.batch(worker, from: 1, [try bench.event(.note, of: (first.effect, first.attempt))]))
        #expect(bench.state.notes == 1)
    }

    /// Its floor would be the attempt itself, which after a restart no worker could claim.
    @Test(arguments: [0, 1, 7])
    func `of another session takes nothing from the owner, whichever attempt it names`(ahead: UInt64) throws {
        var bench = try ReducerBench()
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(try bench.send(sender, from: 1, .light("a", 1)).grants.first)
        let other = bench.join(bob, capacity: 0)
        let named = Attempt(epoch: grant.attempt.epoch, count: grant.attempt.count + ahead)
        let answer = bench.push(bench.batch(other, from: 1, [try bench.event(.note, of: (grant.effect, named))]))
        #expect(answer.messages(to: bob).contains(acknowledged(0, 1, refused(1, .attempt))))
        #expect(try #require(bench.machine.journaled.effects[grant.effect]?.floor) < grant.attempt)
        _ = bench.push(bench.batch(worker, from: 1, [try bench.event(.note, of: (grant.effect, grant.attempt))]))
        #expect(bench.state.notes == 1)
        var again = try ReducerBench(replaying: bench.records, at: 20_000)
        let same = again.join(alice, claiming: [ClaimedAttempt(effect: grant.effect, attempt: grant.attempt)])
        _ = again.push(again.batch(same, from: 2, [try again.event(.note, of: (grant.effect, grant.attempt))]))
        #expect(again.state.notes == 2)
    }

    @Test func `of an effect without an owner voids no attempt that was not granted yet`() throws {
        var bench = try ReducerBench()
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(try bench.send(sender, from: 1, .light("a", 1)).grants.first)
        _ = bench.say(bench.heartbeat(worker, capacity: 0), from: alice)
        let released = Entry(kind: .released, effect: grant.effect, attempt: grant.attempt)
        _ = bench.push(bench.batch(worker, from: 1, [released]))
        let future = Attempt(epoch: grant.attempt.epoch, count: 1000)
        _ = bench.push(bench.batch(worker, from: 2, [try bench.event(.note, of: (grant.effect, future))]))
        #expect(bench.machine.journaled.effects[grant.effect]?.floor == grant.attempt)
        let next = bench.say(bench.heartbeat(worker, capacity: 1), from: alice).grants
        #expect(next.map(\.attempt) == [Attempt(epoch: 1, count: 2)])
    }
}
