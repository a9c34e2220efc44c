import LoopCollections
import LoopCore
import LoopView
import Testing

@Suite(.timeLimit(.minutes(5))) struct `States of a store` {
    private func take<State>(_ count: Int, of states: States<State>) async -> [State] {
        var taken: [State] = []
        for await state in states {
            taken.append(state)
            if taken.count == count { break }
        }
        return taken
    }

    @Test func `1 a store with a loop of its own has its states`() async {
        let store = Store(initial: Counter(), reducer: Counter.reduce)
        let states = store.states
        for number in 1...3 { store.send(event: .add(number)) }
        #expect(await take(4, of: states).map(\.count) == [0, 1, 3, 6])
        #expect(await take(1, of: store.states.latest).map(\.count) == [6])
    }

    @Test func `34 a scope has the states of its part, and a part that goes ends them`() async throws {
        let store = Counter.store(Counter(part: .init(title: "a")))
        let names = store.scoped(to: \.name, event: Counter.Event.rename).states
        let part = try #require(store.scoped(toOptional: \.part, event: Counter.Event.part)).states
        store.send(event: .rename("x"))
        store.send(event: .part(.visit))
        store.send(event: .close)
        #expect(await take(3, of: names) == ["", "x", "x"])
        #expect(await take(9, of: part).map(\.visits) == [0, 0, 1])
    }

    @Test func `34 a store without duplicates has states without duplicates`() async {
        let store = Counter.store()
        let states = store.removingDuplicates().states
        for number in [1, 0, 0, 2] { store.send(event: .add(number)) }
        #expect(await take(3, of: states).map(\.count) == [0, 1, 3])
    }

    @Test func `9 the states of a store end with its loop, and do not keep it alive`() async {
        var store: Store<Counter, Counter.Event>? = Store(initial: Counter(), reducer: Counter.reduce)
        guard let states = store?.states else { return }
        store?.send(event: .add(1))
        store = nil
        #expect(await take(9, of: states).map(\.count) == [0, 1])
    }

    @Test func `a remote store has the states that come, the placeholder first`() async {
        let (updates, news) = AsyncStream<RemoteSource<SignUp.State, SignUp.Event>.Update>.makeStream()
        let store = Store(
            remote: RemoteSource(updates: updates, send: { _ throws(SendRefusal) in }), showing: SignUp.State())
        let states = store.states
        for (index, name) in ["a", "b"].enumerated() {
            news.yield(.init(state: SignUp.State(name: name), connection: .live(Seq(UInt64(index)))))
        }
        news.yield(.init(state: nil, connection: .behind(Seq(1))))
        news.finish()
        #expect(await take(9, of: states).map(\.name) == ["", "a", "b"])
        #expect(await take(9, of: store.states).map(\.name) == ["b"])
    }

    @Test func `the states of a remote store end when it is released`() async {
        let (updates, news) = AsyncStream<RemoteSource<SignUp.State, SignUp.Event>.Update>.makeStream()
        var store: Store<SignUp.State, SignUp.Event>? = Store(
            remote: RemoteSource(updates: updates, send: { _ throws(SendRefusal) in }), showing: SignUp.State())
        guard let states = store?.states else { return }
        store = nil
        #expect(await take(9, of: states).count == 1)
        // Until here the news have not ended.
        news.finish()
    }
}

@Suite struct `Contexts of scopes` {
    @Test func `37 the context of a scope sends though the scope is not held`() throws {
        let loop = Counter.loop(Counter(part: .init(title: "a")))
        let name = loop.scoped(to: \.name, event: Counter.Event.rename).context
        name.send(event: "x")
        #expect(loop.state.name == "x")
        let part = try #require(loop.scoped(toOptional: \.part, event: Counter.Event.part)).context
        part.send(event: .visit)
        #expect(loop.state.part?.visits == 1)
        let deep = loop.scoped(event: { (event: Counter.Event) in event })
            .scoped(to: \.count, event: Counter.Event.add).context
        deep.send(event: 2)
        #expect(loop.state.count == 2)
        loop.send(.close)
        part.send(event: .visit)
        #expect(loop.state.part == nil)
    }

    @Test func `37 the context of a scope of a store sends though no scope is held`() throws {
        let store = Counter.store(Counter(part: .init(title: "a")))
        let whole = store.scoped(event: { (event: Counter.Event) in event })
        let part = try #require(whole.scoped(toOptional: \.part, event: Counter.Event.part)?.context)
        part.send(event: .visit)
        #expect(store.state.part?.visits == 1)
        let middle = try #require(
            store.scoped(event: { (event: Counter.Event) in event })
                .scoped(toOptional: \.part, event: Counter.Event.part)?.context)
        middle.send(event: .visit)
        #expect(store.state.part?.visits == 2)
        middle.binding(for: \.title).value = "b"
        #expect(store.state.part?.title == "b")
    }

    @Test func `37 the context of a scope does not keep the loop alive`() {
        var loop: Loop<Counter, Counter.Event>? = Counter.loop()
        weak let released = loop
        let context = loop?.scoped(to: \.name, event: Counter.Event.rename).context
        loop = nil
        #expect(released == nil)
        context?.send(event: "x")
    }
}
