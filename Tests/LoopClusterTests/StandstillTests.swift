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
        #expect(bench.machine.core.sessions[session] != nil)
        // It is heard again, and goes on.
        _ = try bench.send(session, from: 2, .note)
        #expect(bench.machine.state.notes == 2)
    }

    @Test func `retires those that are silent for as long while it listens`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        for _ in 0..<(24 * 3600 - 1) { bench.turn(after: 1000) }
        #expect(bench.machine.core.sessions[session] != nil)
        // The reducer looks for idle sessions once a minute.
        for _ in 0..<62 { bench.turn(after: 1000) }
        #expect(bench.machine.core.sessions[session] == nil)
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
        let floor = try #require(bench.machine.core.effects[first.effect]?.floor)
        #expect(floor < first.attempt)
        _ = bench.push(bench.batch(worker, from: 1, [try bench.event(.note, of: (first.effect, first.attempt))]))
        #expect(bench.machine.state.notes == 1)
    }
}
