import LoopCollections
import LoopCompatibility
import LoopCore
import Testing

@Suite(.timeLimit(.minutes(5))) struct `States that were taken` {
    @Test func `1 states subscribe when they are taken`() async {
        let loop = counting()
        let states = loop.states
        for _ in 0..<3 { loop.send(1) }
        #expect(await take(4, of: states).map(\.value) == [0, 1, 2, 3])
    }

    @Test func `1 a task that follows the states misses none that came before it began to run`() async {
        for _ in 0..<200 {
            let loop = counting()
            let states = loop.states
            let task = Task { await take(4, of: states).map(\.value) }
            for _ in 0..<3 { loop.send(1) }
            #expect(await task.value == [0, 1, 2, 3])
        }
    }

    @Test func `1 a second iteration begins with the state that is current then`() async {
        let loop = counting()
        let states = loop.states
        loop.send(1)
        #expect(await take(1, of: states).map(\.value) == [0])
        #expect(await take(1, of: states).map(\.value) == [1])
    }

    @Test func `1 the latest, distinct and scoped states subscribe when they are taken too`() async {
        let loop = counting()
        let (latest, distinct) = (loop.states.latest, loop.states.removingDuplicates())
        let scoped = loop.scoped(to: \.value, event: { (event: Int) in event }).states
        for _ in 0..<3 { loop.send(1) }
        loop.mutate(keyPath: \.value, value: 3)
        loop.stop()
        #expect(await take(9, of: latest).map(\.value) == [3])
        #expect(await take(9, of: distinct).map(\.value) == [0, 1, 2, 3])
        #expect(await take(9, of: scoped) == [0, 1, 2, 3, 3])
    }

    @Test func `9 states that were taken do not keep the loop alive, and end with it`() async {
        var loop: CountingLoop? = counting()
        weak let observed = loop
        let states = loop?.states
        loop = nil
        #expect(observed == nil)
        guard let states else { return }
        #expect(await take(9, of: states).map(\.value) == [0])
    }

    @Test func `states that are released end their subscription`() {
        let loop = Loop<Witness, Int>(initial: Witness(), reducer: { state, _ in state = Witness() })
        weak let first = loop.state
        _ = loop.states
        loop.send(1)
        #expect(first == nil)
    }

    private final class Witness: Sendable {}
}
