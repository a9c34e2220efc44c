import LoopCore
import LoopView
import Testing

@Sendable private func same<Value>(_ value: Value) -> Value { value }

/// Promises of composition, kept by a loop in a process and by one across processes alike.
@Suite(.timeLimit(.minutes(5))) struct `Composition in every runtime` {
    @Test(arguments: Runtime.allCases)
    func `30 31 combined reducers run in order on the same state, and a part is changed by its events alone`(
        runtime: Runtime
    ) async throws {
        let log = PromiseLog()
        let parts = Reducer<Tally.State, Int>.combine(
            // Events from 100 on are of the guest, who must be there; 50 brings him.
            Reducer<Int, Int> { $0 += $1 }.optional().pullback(value: \.guest, event: { $0 >= 100 ? $0 - 100 : nil }),
            Reducer { state, event in if event == 50 { state.guest = 0 } },
            // The second sees what the first has made of the state.
            Reducer { state, _ in state.value = 10 * (state.guest ?? -1) })
        let stage = try Stage(
            runtime, log, [.react("value", request: { $0.value }) { .passing("\($0)", log) }], reducer: parts)
        await log.wait(for: "start 0")
        for (event, value) in [(101, -10), (1, -10), (50, 0), (103, 30), (2, 30), (104, 70)] {
            try await stage.send(event)
            await log.wait(for: "start \(value)", count: event == 50 ? 2 : 1)
        }
        #expect(log.said("start") == ["0", "-10", "0", "30", "70"])
        #expect(stage.reduced == [101, 1, 50, 103, 2, 104])
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `34 a scope is a projection both ways, composes, and keeps the order of the root`(
        runtime: Runtime
    ) async throws {
        let stage = try Stage(runtime, initial: 5)
        let root = stage.store()
        let value = root.scoped(to: \.value, event: { (text: String) in text.count })
        let isLarge = value.scoped(to: \.isLarge, event: { (times: Int) in String(repeating: "x", count: times) })
        value.send(event: "x")
        root.send(event: 10)
        isLarge.send(event: 3)
        value.send(event: "xx")
        await until({ root.state.events }, { $0 == [1, 10, 3, 2] })
        #expect(value.state == 21)
        #expect(isLarge.state)
        #expect(stage.reduced == [1, 10, 3, 2])
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `34 a scope keeps its root alive, and removes duplicates only when it is asked to`(
        runtime: Runtime
    ) async throws {
        let stage = try Stage(runtime, initial: 1)
        var root: Store<Tally.State, Int>? = stage.store()
        let scope = root?.scoped(to: \.value, event: { (event: Int) in event })
        let all = try #require(scope)
        let distinct = all.removingDuplicates()
        root = nil
        let (seen, told) = (PromiseLog(), PromiseLog())
        let watch = Task {
            await withTaskGroup(of: Void.self) { group in
                for (store, log) in [(all, seen), (distinct, told)] {
                    let frames = Frames(of: Widget(viewModel: store) { Text("\($0.state)") }, perSecond: 1000)
                    group.addTask { for await tree in frames { log.add(tree.plainText()) } }
                }
            }
        }
        await seen.wait(for: "1")
        await told.wait(for: "1")
        // Each is drawn before the next is sent, so that none is left out.
        all.send(event: 0)
        await seen.wait(for: "1", count: 2)
        all.send(event: 4)
        await seen.wait(for: "5")
        await told.wait(for: "5")
        watch.cancel()
        await watch.value
        #expect(told.lines.drop { $0 == "0" } == ["1", "5"])
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `35 a scope whose event is Never follows the loop and cannot send`(runtime: Runtime) async throws {
        let stage = try Stage(runtime)
        let root = stage.store()
        let quiet: Store<Tally.State, Never> = root.ignoringInput()
        let value: Store<Int, Never> = quiet.scoped(to: \.value, event: same)
        // There is no value to call it with, and fields are not changed either.
        let send: (Never) -> Void = value.send
        _ = send
        value.mutate(keyPath: \.self, value: 7)
        root.send(event: 3)
        await until({ value.state }, { $0 == 3 })
        #expect(stage.reduced == [3])
        #expect(quiet.problem == nil)
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `36 a scope of a scope that is left cancels its effects, and what is sent through it does nothing`(
        runtime: Runtime
    ) async throws {
        let log = PromiseLog()
        let feedback = Feedback<Int, Int>.react("serve", request: { $0 / 10 }) { .lasting("\($0)", log) }
            .pullback(optionalValue: { (state: Tally.State) in state.guest }, embedEvent: { $0 }, extractEvent: { $0 })
        let stage = try Stage(
            runtime, log, [feedback],
            // Zero ends the visit, and everything else is the guest's.
            reducer: Reducer { state, event in state.guest = event == 0 ? nil : (state.guest ?? 0) + event })
        let root = stage.store()
        #expect(root.scoped(toOptional: \.guest, event: { (event: Int) in event }) == nil)
        root.send(event: 10)
        await until({ root.state.guest }, { $0 == 10 })
        let present = root.scoped(toOptional: \.guest, event: { (event: Int) in event })
        let guest = try #require(present)
        let tens = guest.scoped(to: \.tens, event: { (tens: Int) in 10 * tens })
        await log.wait(for: "start 1")
        tens.send(event: 1)
        await until({ tens.state }, { $0 == 2 })
        await log.wait(for: "start 2")
        tens.send(event: 0)
        await log.wait(for: "cancel 2")
        await until({ root.state.guest }, { $0 == nil })
        #expect(tens.state == 2)
        tens.send(event: 1)
        guest.send(event: 0)
        root.send(event: 5)
        await log.wait(for: "reduce 5")
        #expect(stage.reduced == [10, 10, 0, 5])
        #expect(log.said("cancel") == ["1", "2"])
        try await stage.end()
    }
}

extension Int {
    fileprivate var isLarge: Bool { self > 20 }
    fileprivate var tens: Int { self / 10 }
}
