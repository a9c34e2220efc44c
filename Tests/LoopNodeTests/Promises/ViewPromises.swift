import LoopCore
import LoopView
import Testing

/// Promises to those who show state, kept over a loop in this process and over one elsewhere alike.
@Suite(.timeLimit(.minutes(5))) struct `Showing in every runtime` {
    @Test(arguments: Runtime.allCases)
    func `37 a context is an immutable snapshot, and its send does nothing after the loop's end`(
        runtime: Runtime
    ) async throws {
        let stage = try Stage(runtime)
        let store = stage.store()
        let context = store.context
        context.send(event: 3)
        await until({ store.state.value }, { $0 == 3 })
        #expect(context.value == 0)
        #expect(context.state == Tally.State(value: 0))
        #expect(store.context.value == 3)
        store.context.send(event: Tally.end)
        _ = try await stage.outcome
        context.send(event: 1)
        #expect(stage.reduced == [3, Tally.end])
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `38 bindings and actions read the snapshot and change the state through the loop alone`(
        runtime: Runtime
    ) async throws {
        let stage = try Stage(runtime)
        let store = stage.store()
        let context = store.context
        let binding = context.binding(for: \.value, event: { new in new + 100 })
        binding.value = 7
        #expect(binding.value == 0)
        context.binding(for: \.value, event: 2).value = 9
        context.action(for: 1)()
        await until({ store.state.value }, { $0 == 110 })
        #expect(context.value == 0)
        #expect(stage.reduced == [107, 2, 1])
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `40 a renderer draws the initial state, and then at least the latest`(runtime: Runtime) async throws {
        let stage = try Stage(runtime)
        let store = stage.store()
        let drawn = PromiseLog()
        let frames = Frames(of: Widget(viewModel: store) { Text("\($0.value)") }, perSecond: 1000)
        let drawing = Task { for await tree in frames { drawn.add(tree.plainText()) } }
        await drawn.wait(for: "0")
        for _ in 0..<100 { store.send(event: 1) }
        await drawn.wait(for: "100")
        drawing.cancel()
        await drawing.value
        let numbers = drawn.lines.compactMap { Int($0) }
        #expect(numbers == numbers.sorted())
        #expect(numbers.last == 100)
        try await stage.end()
    }
}
