import LoopCore
import LoopView
import Testing

@Suite struct `Contexts` {
    @Test func `37 a context is an immutable snapshot whose members are the state's`() {
        let loop = Counter.loop()
        let context = loop.context
        context.send(event: .add(3))
        #expect(context.count == 0)
        #expect(context.doubled == 0)
        #expect(context.state == Counter())
        #expect(loop.context.count == 3)
        #expect(loop.context.doubled == 6)
    }

    @Test func `37 send after the loop's end does nothing`() {
        var loop: Loop<Counter, Counter.Event>? = Counter.loop()
        let stopped = loop!.context
        loop!.stop()
        stopped.send(event: .add(1))
        #expect(loop!.state.count == 0)
        let binding = stopped.binding(for: \.name)
        binding.value = "x"
        #expect(loop!.state.name == "")
        // A context does not keep the loop alive, and outlives it.
        weak let released = loop
        loop = nil
        #expect(released == nil)
        stopped.send(event: .add(1))
        #expect(stopped.count == 0)
    }

    @Test func `37 a loop gives a context for the current state and for each later one`() async {
        let loop = Counter.loop()
        var contexts = loop.contexts.makeAsyncIterator()
        #expect(await contexts.next()?.count == 0)
        loop.send(.add(1))
        let context = await contexts.next()
        #expect(context?.count == 1)
        context?.send(event: .add(10))
        #expect(await contexts.next()?.count == 11)
        loop.stop()
        #expect(await contexts.next() == nil)
    }

    @Test func `the latest of the contexts that wait is the newest`() async {
        let loop = Counter.loop()
        var contexts = loop.contexts.latest.makeAsyncIterator()
        for _ in 0..<10 { loop.send(.add(1)) }
        let context = await contexts.next()
        #expect(context?.count == 10)
        context?.send(event: .add(5))
        #expect(await contexts.next()?.count == 15)
        loop.stop()
        #expect(await contexts.next() == nil)
    }

    @Test func `38 a binding reads the snapshot and sends an event`() {
        let log = Log<Counter.Event>()
        let context = Context<Counter, Counter.Event>(state: Counter(name: "a"), send: { log.add($0) })
        let binding = context.binding(for: \.name, event: { .rename($0) })
        #expect(binding.value == "a")
        binding.value = "b"
        #expect(log.entries == [.rename("b")])
        #expect(binding.value == "a")
        context.binding(for: \.isOn, event: .close).value = true
        #expect(log.entries == [.rename("b"), .close])
    }

    @Test func `38 a binding of an entry shows the entry and sends an event`() {
        let log = Log<Counter.Event>()
        let context = Context<Counter, Counter.Event>(state: Counter(), send: { log.add($0) })
        let names = ["a", "b"].map { name in context.binding(of: name, event: { .rename(name + $0) }) }
        names[1].value = "c"
        #expect(names.map(\.value) == ["a", "b"])
        context.binding(of: true, event: .close).value = false
        #expect(log.entries == [.rename("bc"), .close])
    }

    @Test func `38 an action is a closure that sends`() {
        let log = Log<Counter.Event>()
        let action = Context<Counter, Counter.Event>(state: Counter(), send: { log.add($0) }).action(for: .add(2))
        #expect(log.entries == [])
        action()
        action()
        #expect(log.entries == [.add(2), .add(2)])
    }

    @Test func `38 writing a binding changes the state through the loop and no other way`() {
        let store = Counter.store()
        let context = store.context
        context.binding(for: \.name, event: { .rename("<\($0)>") }).value = "b"
        #expect(context.name == "")
        #expect(store.state.name == "<b>")
        context.binding(for: \.name).value = "c"
        #expect(store.state.name == "c")
    }

    @Test func `a mapped binding leaves out what cannot be read`() {
        let store = Counter.store(Counter(count: 7))
        let number = store.context.binding(for: \.count).map(get: { String($0) }, set: { Int($0) })
        #expect(number.value == "7")
        number.value = "8x"
        #expect(store.state.count == 7)
        number.value = "8"
        #expect(store.state.count == 8)
        Binding.constant(1).value = 2
    }

    @Test func `a context of a part sends the whole's events and changes the part's fields`() throws {
        let store = Counter.store(Counter(part: .init(title: "t")))
        let part = store.context.view(value: \.part, event: Counter.Event.part)
        let open = try #require(part.unwrapped())
        #expect(open.title == "t")
        open.send(event: .visit)
        #expect(store.state.part?.visits == 1)
        open.binding(for: \.title).value = "u"
        #expect(store.state.part == Counter.Part(title: "u", visits: 1))
        store.send(event: .close)
        open.binding(for: \.title).value = "v"
        #expect(store.state.part == nil)
        #expect(store.context.view(value: \.part, event: Counter.Event.part).unwrapped()?.title == nil)
    }

    @Test func `a computed part can be read, and changed by events only`() {
        let store = Counter.store(Counter(count: 2))
        let context = store.context.view(value: \.doubled, event: { (number: Int) in .add(number) })
        #expect(context.state == 4)
        context.send(event: 5)
        #expect(store.state.count == 7)
    }
}
