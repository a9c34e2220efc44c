import Testing

@testable import LoopNode

@Suite(.timeLimit(.minutes(5))) struct `An awaited value` {
    @Test func `comes to all that wait, and the first stays`() async {
        let value = AwaitedValue<Int>()
        async let first = value.get()
        async let second = value.getUnlessCancelled()
        value.set(1)
        value.set(2)
        #expect(await first == 1)
        #expect(await second == 1)
        #expect(value.value == 1)
    }

    @Test func `is not waited for any longer by a task that is cancelled`() async {
        let value = AwaitedValue<Int>()
        let waiting = Task { await value.getUnlessCancelled() }
        waiting.cancel()
        #expect(await waiting.value == nil)
        value.set(1)
        let late = Task { await value.getUnlessCancelled() }
        late.cancel()
        #expect(await late.value == 1)
    }
}
