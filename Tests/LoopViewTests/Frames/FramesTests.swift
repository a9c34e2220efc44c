import LoopCollections
import LoopCore
import LoopView
import Observation
import TestClocks
import Testing

@Suite struct `Frames of a view` {
    private let store = Counter.store()
    private let clock = PoolClock()

    private func page(log: Log<Int>? = nil) -> Widget<Counter, Counter.Event> {
        Widget(viewModel: store) { context in
            let _: Void = log?.add(context.count) ?? ()
            Text("\(context.count)")
        }
    }

    @Test func `40 a renderer draws the initial state and then at least the latest`() async {
        var frames = Frames(of: page(), perSecond: 10, clock: clock).makeAsyncIterator()
        #expect(await frames.next()?.plainText() == "0")
        for _ in 0..<1000 { store.send(event: .add(1)) }
        async let second = frames.next()?.plainText()
        await clock.sleeper(until: .milliseconds(100))
        // What changes during the pause is in the frame.
        store.send(event: .add(1))
        clock.advance(to: .milliseconds(100))
        #expect(await second == "1001")
    }

    @Test func `40 after a pause a change is drawn at once`() async {
        var frames = Frames(of: page(), perSecond: 10, clock: clock).makeAsyncIterator()
        #expect(await frames.next()?.plainText() == "0")
        clock.advance(to: .milliseconds(100))
        store.send(event: .add(1))
        // Time stands still, so a frame that waited would not come.
        #expect(await frames.next()?.plainText() == "1")
    }

    @Test(arguments: 0..<20)
    func `40 whatever the times, frames keep their distance and the last change is drawn`(seed: UInt64) async {
        var random = SeededRandom(seed: seed)
        let perSecond = Int.random(in: 20...1000, using: &random)
        let interval = Duration.nanoseconds(1_000_000_000 / perSecond)
        var frames = Frames(of: page(), perSecond: perSecond, clock: clock).makeAsyncIterator()
        #expect(await frames.next()?.plainText() == "0")
        var now = Duration.zero
        var count = 0
        for _ in 0..<100 {
            let due = now + interval
            now += .milliseconds(Int64.random(in: 0...60, using: &random))
            clock.advance(to: now)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                store.send(event: .add(1))
                count += 1
            }
            async let tree = frames.next()?.plainText()
            if now < due {
                await clock.sleeper(until: due)
                store.send(event: .add(1))
                count += 1
                now = due
                clock.advance(to: now)
            }
            #expect(await tree == "\(count)")
        }
    }

    @Test func `40 a change while a frame is drawn is followed by another frame`() async {
        var frames = Frames(of: page(), perSecond: 1000, clock: clock).makeAsyncIterator()
        #expect(await frames.next()?.plainText() == "0")
        clock.advance(to: .seconds(1))
        store.send(event: .add(1))
        #expect(await frames.next()?.plainText() == "1")
        // The reader is busy with that frame.
        store.send(event: .add(1))
        clock.advance(to: .seconds(2))
        #expect(await frames.next()?.plainText() == "2")
    }

    @Test func `40 a change that is notified before all of a frame is drawn is followed by another frame`() async {
        // Observation itself watches only what has been drawn to the end.
        let isFirst = Locked(true)
        let told = Monitor(false)
        withObservationTracking {
            _ = store.state
        } onChange: {
            told.withLock { $0 = true }
            told.broadcast()
        }
        let page = Widget(viewModel: store) { [store] context in
            if isFirst.withLock({ was in
                defer { was = false }
                return was
            }) {
                let _: Void = store.send(event: .add(1))
                let _: Void = told.wait(until: { $0 })
            }
            Text("\(context.count)")
        }
        var frames = Frames(of: page, perSecond: 1000, clock: clock).makeAsyncIterator()
        #expect(await frames.next()?.plainText() == "0")
        clock.advance(to: .seconds(1))
        #expect(await frames.next()?.plainText() == "1")
    }

    @Test func `40 while events come from many threads, the last frame shows the latest state`() async {
        let drawn = Log<String>()
        let frames = Frames(of: page(), perSecond: 1000)
        let drawing = Task { for await tree in frames { drawn.add(tree.plainText()) } }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { [store] in for _ in 0..<500 { store.send(event: .add(1)) } }
            }
        }
        await drawn.hasLast { $0 == "2000" }
        drawing.cancel()
        #expect(drawn.entries.first.flatMap { Int($0) } != nil)
        let numbers = drawn.entries.compactMap { Int($0) }
        #expect(numbers == numbers.sorted())
    }

    @Test func `40 with removeDuplicates equal states are not drawn`() async {
        let drawn = Log<Int>()
        let areEqual: @Sendable (Counter, Counter) -> Bool = { $0.count == $1.count }
        let page = Widget(viewModel: store, removeDuplicates: areEqual) { context in
            let _: Void = drawn.add(context.count)
            Text("\(context.count) \(context.name)")
        }
        let frames = Frames(of: page, perSecond: 1000)
        let texts = Log<String>()
        let drawing = Task { for await tree in frames { texts.add(tree.plainText()) } }
        await texts.reaches(1)
        for name in ["a", "b", "c"] { store.send(event: .rename(name)) }
        store.send(event: .add(1))
        await texts.reaches(2)
        drawing.cancel()
        #expect(texts.entries == ["0", "1 c"])
        #expect(drawn.entries == [0, 1])
    }

    @Test func `40 a nested widget without duplicates is notified of differences after each drawing`() async {
        let page = Group { [store] in
            Widget(viewModel: store) { Text($0.name) }
            Widget(viewModel: store.scoped(to: \.count, event: Counter.Event.add), removeDuplicates: ==) {
                Text("\($0.state)")
            }
        }
        let texts = Log<String>()
        let frames = Frames(of: page, perSecond: 1000)
        let drawing = Task { for await tree in frames { texts.add(tree.plainText()) } }
        for number in 1...5 {
            store.send(event: .add(1))
            await texts.hasLast { $0.hasSuffix("\(number)") }
        }
        drawing.cancel()
    }

    @Test func `frames end with their task`() async {
        let frames = Frames(of: page(), clock: clock)
        let drawing = Task {
            var count = 0
            for await _ in frames { count += 1 }
            return count
        }
        drawing.cancel()
        #expect(await drawing.value <= 1)
    }
}
