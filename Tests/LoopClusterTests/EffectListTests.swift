import LoopCluster
import LoopCore
import LoopWire
import Testing

/// What an operator learns of the effects that the state asks for.
@Suite struct `A list of effects` {
    private func list(
        _ bench: inout ReducerBench, _ selection: EffectSelection = EffectSelection()
    ) throws -> [ListedEffect] {
        guard case .effects(let effects, let others) = bench.ask(.effects(selection)) else {
            Issue.record("no list came")
            return []
        }
        #expect(others == 0)
        if selection == EffectSelection() {
            let waiting = Dictionary(grouping: effects.filter { $0.state == .waiting }, by: \.reason.rawValue)
            #expect(bench.machine.status().feedbacks.first?.waitReasons ?? [:] == waiting.mapValues(\.count))
        }
        return effects
    }

    private func reasons(_ bench: inout ReducerBench) throws -> [ListedEffect.Reason] {
        try list(&bench).map(\.reason)
    }

    @Test func `says that no worker serves an effect, until one does, and then which one runs it`() throws {
        var bench = try ReducerBench()
        let sender = bench.join(client, capacity: 0)
        _ = try bench.send(sender, from: 1, .light("a", 5))
        let request = try bench.coder.encode(5)
        #expect(
            try list(&bench) == [
                ListedEffect(
                    effect: "0.1.0", feedback: "lamps", state: .waiting, reason: .noWorker,
                    text: "no worker that is heard serves it; it is in the group \"default\"", seq: 1,
                    waitMilliseconds: 0, failures: 0,
                    request: request)
            ])
        bench.join(alice)
        let running = try list(&bench)
        #expect(running.map(\.state) == [.running] && running.map(\.reason) == [.runs])
        #expect(running[0].text == "the worker \"peer 1\" (\(alice)) runs attempt 1/1")
        // A newer request is of a later seq.
        _ = try bench.send(sender, from: 2, .light("a", 6))
        #expect(try list(&bench).map(\.seq) == [2])
    }

    @Test func `says how long an effect has waited, and status how long the oldest has`() throws {
        let policy = EffectPolicy(
            retry: Retry(attemptsMax: 2, firstDelay: .seconds(60), delayMax: .seconds(60), jitter: 0))
        var bench = try ReducerBench(policy: policy)
        let sender = bench.join(client, capacity: 0)
        _ = try bench.send(sender, from: 1, .light("a", 1))
        bench.turn(after: 2000)
        _ = try bench.send(sender, from: 2, .light("b", 1))
        bench.turn(after: 500)
        #expect(try list(&bench).map(\.waitMilliseconds) == [2500, 500])
        #expect(bench.machine.status().feedbacks.map(\.oldestWaitMilliseconds) == [2500])
        let worker = bench.join(alice)
        #expect(try list(&bench).map(\.waitMilliseconds) == [nil, nil])
        #expect(bench.machine.status().feedbacks.map(\.oldestWaitMilliseconds) == [nil])
        #expect(bench.machine.effectFigures.map(\.waits.sum) == [3])
        // An effect that is tried again begins a new wait.
        let grant = try #require(bench.machine.status().feedbacks.first?.running == 2 ? list(&bench).first : nil)
        let id = try #require(EffectID(grant.effect))
        let failed = Entry(
            kind: .failed, effect: id, attempt: Attempt(epoch: 1, count: 1),
            payload: Failure(message: "dark").bytes[...])
        _ = bench.push(bench.batch(worker, from: 1, [failed]))
        bench.turn(after: 700)
        #expect(try list(&bench, EffectSelection(effect: grant.effect)).map(\.waitMilliseconds) == [700])
        // The time until a next try is no wait for a worker.
        #expect(bench.wait(for: 60_000, worker, alice).grants.count == 1)
        let figures = try #require(bench.machine.effectFigures.first)
        #expect(figures.waits.sum == 3 && figures.ends == [.failed: 1] && figures.completed == 0)
    }

    @Test func `says that the workers are full`() throws {
        var bench = try ReducerBench()
        bench.join(alice, capacity: 1)
        let sender = bench.join(client, capacity: 0)
        _ = try bench.send(sender, from: 1, .light("a", 1), .light("b", 2))
        let listed = try list(&bench)
        #expect(listed.map(\.reason) == [.runs, .workersFull])
        #expect(listed[1].text == "the worker of the group \"default\" holds 1 effect, as many as may be held")
    }

    @Test func `says which limit an effect waits for`() throws {
        let limits: [(EffectPolicy, ListedEffect.Reason, String)] = [
            (EffectPolicy(concurrency: 1), .concurrency, "its feedback runs 1 effect, as many as it may"),
            (
                EffectPolicy(rate: RateLimit(perSecond: 0.5)), .rate,
                "the rate of its feedback lets the next one start in "
            ),
        ]
        for (policy, reason, text) in limits {
            var bench = try ReducerBench(policy: policy)
            let worker = bench.join(alice)
            let sender = bench.join(client, capacity: 0)
            _ = try bench.send(sender, from: 1, .light("a", 1), .light("b", 2))
            // The first token comes after a while.
            if reason == .rate { _ = bench.wait(for: 2500, worker, alice) }
            let listed = try list(&bench)
            #expect(listed.map(\.reason) == [.runs, reason] && listed.last?.text.hasPrefix(text) == true, "\(listed)")
        }
    }

    @Test func `says when an effect is tried again, and why it is not any more`() throws {
        let policy = EffectPolicy(
            retry: Retry(attemptsMax: 2, firstDelay: .seconds(60), delayMax: .seconds(60), jitter: 0))
        var bench = try ReducerBench(policy: policy)
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(bench.send(sender, from: 1, .light("a", 1)).grants.first)
        _ = bench.push(bench.batch(worker, from: 1, [bench.failure(of: grant)]))
        let waiting = try list(&bench)
        #expect(waiting.map(\.reason) == [.retry] && waiting.map(\.failures) == [1])
        #expect(waiting[0].text == "it is tried again in 60 s, after 1 failure")
        let again = try #require(bench.wait(for: 61_000, worker, alice).grants.first)
        let number = (bench.machine.journaled.sessions[worker]?.watermark ?? 0) + 1
        _ = bench.push(bench.batch(worker, from: number, [bench.failure(of: again)]))
        let parked = try list(&bench)
        #expect(parked.map(\.state) == [.parked] && parked.map(\.reason) == [.failed])
    }

    @Test func `says that an effect has completed and is still wanted`() throws {
        var bench = try ReducerBench()
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(bench.send(sender, from: 1, .light("a", 1)).grants.first)
        let done = Entry(kind: .completed, effect: grant.effect, attempt: grant.attempt, payload: [])
        _ = bench.push(bench.batch(worker, from: 1, [done]))
        let listed = try list(&bench)
        #expect(listed.map(\.state) == [.completed] && listed.map(\.reason) == [.done])
    }

    @Test func `says after a restart that a worker may still run an effect, and that none can`() throws {
        var bench = try ReducerBench()
        bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        _ = try bench.send(sender, from: 1, .light("a", 1))
        var again = try ReducerBench(replaying: bench.records, at: bench.time)
        let listed = try list(&again)
        #expect(listed.map(\.reason) == [.unclaimed])
        #expect(listed[0].text.hasPrefix("a worker may run it since before the reducer's start; unless one says so"))
        for _ in 0..<20 { again.turn(after: 1000) }
        #expect(try reasons(&again) == [.noWorker])
    }

    @Test func `says that the worker that has an effect is not heard`() throws {
        var bench = try ReducerBench()
        bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        _ = try bench.send(sender, from: 1, .light("a", 1))
        for _ in 0..<20 { _ = bench.say(bench.heartbeat(sender, capacity: 0), from: client, after: 1000) }
        let listed = try list(&bench)
        #expect(listed.map(\.state) == [.waiting] && listed.map(\.reason) == [.silent], "\(listed)")
    }

    @Test func `says that the loop has ended`() throws {
        var bench = try ReducerBench()
        let sender = bench.join(client, capacity: 0)
        _ = try bench.send(sender, from: 1, .light("a", 1), .finish)
        #expect(try reasons(&bench) == [.ended])
    }

    @Test func `has what is asked for, in the order of IDs, and says how many others there are`() throws {
        var bench = try ReducerBench()
        bench.join(alice, capacity: 1)
        let sender = bench.join(client, capacity: 0)
        _ = try bench.send(sender, from: 1, .light("c", 1), .light("b", 1), .light("a", 1))
        #expect(try list(&bench).map(\.effect) == ["0.1.0", "0.2.0", "0.3.0"])
        #expect(try list(&bench, EffectSelection(state: .running)).map(\.effect) == ["0.1.0"])
        #expect(try list(&bench, EffectSelection(feedback: "lamps", state: .parked)) == [])
        #expect(try list(&bench, EffectSelection(effect: "0.2.0")).map(\.effect) == ["0.2.0"])
        guard case .effects(let first, let others) = bench.ask(.effects(EffectSelection(max: 2))) else {
            Issue.record("no list came")
            return
        }
        #expect(first.map(\.effect) == ["0.1.0", "0.2.0"] && others == 1)
        #expect(bench.ask(.effects(EffectSelection(max: -1))) == .effects([], others: 3))
    }

    @Test func `refuses what there is not, and names what there is`() throws {
        var bench = try ReducerBench()
        #expect(bench.ask(.effects(EffectSelection(effect: "all"))).refusal?.contains("names no effect") == true)
        #expect(bench.ask(.effects(EffectSelection(effect: "0.9.0"))).refusal?.contains("not wanted") == true)
        #expect(
            bench.ask(.effects(EffectSelection(feedback: "lumps"))).refusal
                == "the loop has no feedback \"lumps\"; it has \"lamps\"")
    }
}
