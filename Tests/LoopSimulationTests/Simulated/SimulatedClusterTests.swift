import LoopCore
import LoopSimulation
import Testing

@Suite struct `A simulated cluster of one's own loop` {
    static func orchard(
        _ definition: Orchard = Orchard(), seed: UInt64, faults: Faults = .all, duration: Duration = .seconds(10),
        withoutFaults: String = "", simpler: String = ""
    ) -> SimulatedCluster<Orchard> {
        let cluster = SimulatedCluster(
            definition, seed: seed, faults: faults, duration: duration, withoutFaults: withoutFaults, simpler: simpler)
        cluster.answer("pick") { (tree: Orchard.Tree, effect: inout SimulatedEffect<Orchard.Event>) in
            effect.pause(upTo: .seconds(2))
            effect.send(.picked(tree.number, apples: 10 * tree.number))
        }
        cluster.answer("watch") { (_: String, effect: inout SimulatedEffect<Orchard.Event>) in
            effect.send(.seen)
            effect.runForever()
        }
        for tree in 1...4 { cluster.send(.planted(tree), at: .milliseconds(700 * tree)) }
        return cluster
    }

    @Test(arguments: 0..<12 as Range<UInt64>)
    func `comes to the same end whatever fails`(seed: UInt64) throws {
        let cluster = Self.orchard(seed: seed, faults: .network + .processes + .disk)
        cluster.invariant("nothing is counted that was not picked") { $0.counted.isSubset(of: $0.picked.keys) }
        let end: SimulationEnd<Orchard>
        do {
            end = try cluster.run()
        } catch {
            Issue.record("\(error)")
            return
        }
        // What a client had accepted when it was killed is lost with it; what was planted is picked and counted.
        let planted = end.state.planted
        #expect(end.state.picked == Dictionary(uniqueKeysWithValues: planted.map { ($0, 10 * $0) }))
        #expect(end.outcome == (planted.count == 4 ? Outcome(text: "100 apples", exitCode: 1) : nil))
        #expect(end.outcome != nil || end.state.counted == planted)
        #expect(end.outcome != nil || end.faults["kill", default: 0] > 0)
        #expect(end.events.count == Int(end.seq.value))
        #expect(
            planted.allSatisfy {
                end.events.contains(.planted($0)) && end.events.contains(.picked($0, apples: 10 * $0))
            })
        for promise in ["G1", "G8"] { #expect(end.checks[promise, default: 0] > 0) }
    }

    @Test func `has no faults where none were asked for`() throws {
        let end = try Self.orchard(seed: 3, faults: .none).run()
        #expect(end.faults == [:])
        #expect(end.outcome?.text == "100 apples")
        #expect(end.state.sightings == 1)
        // The run is over as soon as all peers know that the loop has ended.
        #expect(end.duration < .seconds(8))
    }

    @Test func `goes the same way again for the same seed`() throws {
        let cluster = Self.orchard(seed: 5)
        let first = try cluster.run()
        let second = try cluster.run()
        let other = try Self.orchard(seed: 6).run()
        #expect(first.events == second.events)
        #expect(first.faults == second.faults)
        #expect(first.duration == second.duration)
        #expect(first.duration != other.duration)
    }

    @Test func `says which feedback has no answer`() {
        let cluster = SimulatedCluster(Orchard(), seed: 1, faults: .none)
        cluster.send(.planted(1), at: .seconds(1))
        let failure = #expect(throws: SimulationFailure.self) { try cluster.run() }
        #expect(failure?.promise == "TEST")
        #expect(failure?.reason.contains("feedback \"pick\"") == true)
        #expect(failure?.reason.contains("cluster.answer(\"pick\")") == true)
    }

    @Test func `says which feedbacks there are to be answered, and of which type`() {
        let cluster = SimulatedCluster(Orchard(), seed: 1, faults: .none)
        cluster.answer("pluck") { (_: Orchard.Tree, _: inout SimulatedEffect<Orchard.Event>) in }
        let unknown = #expect(throws: SimulationFailure.self) { try cluster.run() }
        #expect(
            unknown?.reason
                == "there is no feedback \"pluck\" to be answered; the loop has \"pick\", \"count\", \"watch\"")
        let other = SimulatedCluster(Orchard(), seed: 1, faults: .none)
        other.answer("pick") { (_: String, _: inout SimulatedEffect<Orchard.Event>) in }
        other.send(.planted(1), at: .seconds(1))
        let type = #expect(throws: SimulationFailure.self) { try other.run() }
        #expect(
            type?.reason == "the answer for the feedback \"pick\" takes a String, and its requests are of type Tree")
    }

    @Test func `tells the seed and the line that runs a broken invariant again, and makes it small`() throws {
        let cluster = Self.orchard(seed: 17)
        cluster.invariant("there is no third tree") { $0.planted.count < 3 }
        let failure = try #require(#expect(throws: SimulationFailure.self) { try cluster.run() })
        #expect(failure.promise == "INVARIANT")
        #expect(failure.reason.contains("there is no third tree"))
        let lines = failure.description.split(separator: "\n")
        #expect(lines.first?.hasPrefix("seed 17, step ") == true)
        #expect(lines.last == "again: SimulatedCluster(Orchard(…), seed: 17, …, duration: .seconds(10))")
        #expect(failure.transcript.contains { $0.contains("→ reducer: ") && $0.contains(" planted(3)") })
        let small = failure.shrunk(runsMax: 100)
        #expect(small.failure.promise == "INVARIANT")
        #expect(small.faultCount == 0)
        #expect(small.failure.transcript.isEmpty == false)
    }

    @Test func `runs a shrunk failure again by what its line says`() throws {
        let cluster = Self.orchard(seed: 17)
        cluster.invariant("there is no third tree") { $0.planted.count < 3 }
        let small = try #require(#expect(throws: SimulationFailure.self) { try cluster.run() }).shrunk(runsMax: 100)
        let line = try #require(small.description.split(separator: "\n").last)
        let words = try #require(
            try /seed: 17, …, duration: .seconds\((\d+)\), withoutFaults: "([^"]*)", simpler: "([^"]*)"/.firstMatch(
                in: line))
        let again = Self.orchard(
            seed: 17, duration: .seconds(Int(words.1) ?? 0), withoutFaults: String(words.2), simpler: String(words.3))
        again.invariant("there is no third tree") { $0.planted.count < 3 }
        let failure = try #require(#expect(throws: SimulationFailure.self) { try again.run() })
        // Not the state in the reason, whose sets are printed in any order.
        #expect(failure.step == small.failure.step)
        #expect(failure.time == small.failure.time)
        #expect(failure.promise == small.failure.promise)
        #expect(failure.transcript == small.failure.transcript)
    }

    @Test func `takes durations as they are, and says which simpler runs there are`() throws {
        let broken = Self.orchard(seed: 1, duration: .milliseconds(2500))
        broken.invariant("nothing is planted") { $0.planted.isEmpty }
        let failure = try #require(#expect(throws: SimulationFailure.self) { try broken.run() })
        #expect(failure.description.hasSuffix("duration: .milliseconds(2500))"))
        let unknown = #expect(throws: SimulationFailure.self) { try Self.orchard(seed: 1, simpler: "no-rain").run() }
        #expect(
            unknown?.reason == "simpler takes some of one-worker, fast-network, fast-disk, no-observers, not no-rain")
    }

    @Test(arguments: [.randomness, .setOrder] as [Orchard.Fickleness], 0..<4 as Range<UInt64>)
    func `finds a reducer that is not a function of its arguments`(kind: Orchard.Fickleness, seed: UInt64) throws {
        let cluster = Self.orchard(Orchard(treeCount: 0, fickleness: kind), seed: seed)
        for tree in 5..<40 { cluster.send(.planted(tree), at: .milliseconds(200 * tree)) }
        let failure = try #require(#expect(throws: SimulationFailure.self) { try cluster.run() })
        // Whichever is asked first to make a state again: a replay, or what an observer shows.
        #expect(["G8", "G9"].contains(failure.promise))
        #expect(failure.reason.contains("the order of a Set or a Dictionary"))
    }

    @Test(arguments: 0..<6 as Range<UInt64>)
    func `lets come to pass what was asked for`(seed: UInt64) throws {
        let cluster = Self.orchard(seed: seed, faults: .none)
        cluster.at(.seconds(1)) {
            $0.killWorker(0)
            $0.partition(worker: 1, .fromReducer, for: .seconds(4))
        }
        cluster.at(.seconds(2)) {
            $0.crashReducer()
            $0.dropInbox(worker: 2, messages: 5)
        }
        cluster.at(.seconds(3)) {
            $0.stopWorker(2)
            $0.losePushes(worker: 1)
            $0.fillDisk(for: .seconds(1))
        }
        cluster.at(.seconds(5)) {
            $0.freezeReducer(for: .seconds(2))
            $0.losePower()
        }
        let end = try cluster.run()
        #expect(end.outcome?.text == "100 apples")
    }

    @Test func `sees failed effects tried again, and their last failure become an event`() throws {
        let cluster = SimulatedCluster(Orchard(treeCount: 2), seed: 4, faults: .none)
        cluster.answer("pick") { (tree: Orchard.Tree, effect: inout SimulatedEffect<Orchard.Event>) in
            effect.pause(.milliseconds(100))
            if tree.number == 1 || effect.failures == 0 { effect.fail("the ladder broke") }
            effect.send(.picked(tree.number, apples: effect.failures))
        }
        cluster.answer("watch") { (_: String, effect: inout SimulatedEffect<Orchard.Event>) in effect.runForever() }
        cluster.send(.planted(1), at: .seconds(1))
        cluster.send(.planted(2), at: .seconds(1))
        let end = try cluster.run()
        #expect(end.state.picked == [1: 0, 2: 1])
        #expect(end.events.contains(.withered(1)))
    }

    @Test func `comes to rest where a loop has no end`() throws {
        let cluster = Self.orchard(Orchard(treeCount: 0), seed: 9)
        let end = try cluster.run()
        #expect(end.outcome == nil)
        #expect(end.state.counted == end.state.planted)
    }

    @Test func `stands still in the end where a loop never rests`() throws {
        let cluster = SimulatedCluster(Orchard(treeCount: 0), seed: 10, faults: .processes, duration: .seconds(5))
        cluster.answer("pick") { (_: Orchard.Tree, effect: inout SimulatedEffect<Orchard.Event>) in effect.runForever()
        }
        cluster.answer("watch") { (_: String, effect: inout SimulatedEffect<Orchard.Event>) in
            for _ in 0..<1000 {
                effect.pause(.milliseconds(100))
                effect.send(.seen)
            }
        }
        cluster.client(every: .milliseconds(300)) { random in .planted(Int.random(in: 0..<3, using: &random)) }
        let end = try cluster.run()
        #expect(end.state.sightings > 100)
    }
}
