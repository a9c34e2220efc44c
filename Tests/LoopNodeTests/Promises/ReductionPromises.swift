import LoopCompatibility
import LoopCore
import Testing

/// Promises of the core, kept by a loop in a process and by one across processes alike.
@Suite(.timeLimit(.minutes(5))) struct `Reduction in every runtime` {
    @Test(arguments: Runtime.allCases)
    func `1 4 an observer sees states that existed, in order, and at last the latest`(runtime: Runtime) async throws {
        let stage = try Stage(runtime, initial: 5)
        try await stage.send(1)
        async let watched = {
            var seen: [Tally.State] = []
            await stage.states { state in
                seen.append(state)
                return state.events.count < 7
            }
            return seen
        }()
        // The third changes nothing, and is a state all the same.
        for event in [1, 0, 1, 1, 1, 1] { try await stage.send(event) }
        let seen = await watched
        let all = [1, 1, 0, 1, 1, 1, 1]
        for state in seen { #expect(state.events == Array(all.prefix(state.events.count))) }
        for state in seen { #expect(state.value == 5 + state.events.reduce(0, +)) }
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.events.count < $1.events.count })
        #expect(seen.last?.events == all)
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `2 6 7 events of many senders are applied one at a time, each once, and have been when their senders know`(
        runtime: Runtime
    ) async throws {
        let stage = try Stage(runtime)
        let seqs = try await withThrowingTaskGroup(of: [Seq].self) { group in
            for sender in 1...4 {
                group.addTask {
                    var seqs: [Seq] = []
                    for _ in 0..<25 {
                        seqs.append(try await stage.send(sender))
                        // Where senders meet, one of them reduces for all.
                        #expect(stage.reduced.contains(sender) || runtime == .process)
                    }
                    return seqs
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        for sender in 1...4 { #expect(stage.reduced.count { $0 == sender } == 25) }
        #expect(seqs.max() == Seq(100))
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `3 events of one source never swap places`(runtime: Runtime) async throws {
        let log = PromiseLog()
        let sources = (0..<2).map { source in
            TallyFeedback.source("source \(source)") { send in
                for number in 1...40 { try await send(source == 0 ? number : -number) }
            }
        }
        let stage = try Stage(runtime, log, sources)
        await log.wait(for: "reduce 40")
        await log.wait(for: "reduce -40")
        #expect(stage.reduced.filter { $0 > 0 } == Array(1...40))
        #expect(stage.reduced.filter { $0 < 0 } == (1...40).map { -$0 })
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `5 what effects send in answer to events is reduced, however often`(runtime: Runtime) async throws {
        let log = PromiseLog()
        let stage = try Stage(runtime, log, [.whileTrue("up", state: { $0.value < 30 }) { _ in .event(1) }])
        await log.wait(for: "reduce 1", count: 30)
        #expect(try await stage.send(5) == Seq(31))
        #expect(stage.reduced == Array(repeating: 1, count: 30) + [5])
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `8 effects start in the order of their feedbacks`(runtime: Runtime) async throws {
        let log = PromiseLog()
        let stage = try Stage(
            runtime, log,
            ["a", "b"].map { (name: String) in .everyState(name) { .passing("\(name)\($0.value)", log) } })
        for name in ["a0", "b0"] { await log.wait(for: "start \(name)") }
        try await stage.send(1)
        for name in ["a1", "b1"] { await log.wait(for: "start \(name)") }
        #expect(runtime.begun(log.said("start"), at: [2, 2]) == ["a0", "b0", "a1", "b1"])
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `9 10 the end takes effect before the next event, cancels effects and ends what observers see`(
        runtime: Runtime
    ) async throws {
        let log = PromiseLog()
        let stage = try Stage(
            runtime, log,
            [
                .source("lasting") { _ in
                    log.add("lasts")
                    await withTaskCancellationHandler {
                        try? await Task.sleep(for: .seconds(3600))
                    } onCancel: {
                        log.add("cancelled")
                    }
                },
                .extractingAndKeeping("last", payload: { $0 == 1 ? $0 : nil }) { _ in .events(Tally.end, 5, 6) },
            ])
        await log.wait(for: "lasts")
        async let last = {
            var last: Tally.State?
            await stage.states { state in
                last = state
                return true
            }
            return last
        }()
        try await stage.send(1)
        #expect(try await stage.outcome == Outcome(text: "[1, 1000]"))
        await log.wait(for: "cancelled")
        let seen = await last
        #expect(seen == nil || seen?.events == [1, Tally.end])
        #expect(stage.reduced == [1, Tally.end])
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `12 15 who subscribes from inside an effect sees a state, and then that of its event`(
        runtime: Runtime
    ) async throws {
        let log = PromiseLog()
        let (made, hand) = AsyncStream.makeStream(of: Stage.self)
        let stage = try Stage(
            runtime, log,
            [
                .middleware("subscriber") { _, event in
                    .run { _ in
                        for await stage in made {
                            await stage.states { state in
                                log.add("event \(event) sees \(state.value)")
                                return state.value < 4
                            }
                            return
                        }
                    }
                }
            ])
        hand.yield(stage)
        hand.finish()
        try await stage.send(4)
        await log.wait(for: "event 4 sees 4")
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `16 an effect's own events have been applied where it waits for that`(runtime: Runtime) async throws {
        let log = PromiseLog()
        let stage = try Stage(
            runtime, log,
            [
                .source("source") { send in
                    let seq = try await send.sendAndConfirm(3)
                    log.add("confirmed \(seq) after \(log.said("reduce"))")
                }
            ])
        await log.wait(for: #"confirmed 1 after ["3"]"#)
        try await stage.end()
    }
}
