import LoopCore
import LoopView
import Observation
import Testing

@Suite struct `Stores` {
    @Test func `a send shows in the state when it returns`() {
        let store = Counter.store()
        store.send(event: .add(2))
        #expect(store.state.count == 2)
        #expect(store.connection == .local)
        #expect(store.problem == nil)
    }

    @Test func `39 mutate goes through the queue and publishes a state`() async {
        let loop = Counter.loop()
        let store = Store(loop)
        var states = loop.states.makeAsyncIterator()
        _ = await states.next()
        store.mutate(keyPath: \.name, value: "n")
        #expect(store.state.name == "n")
        #expect(await states.next()?.name == "n")
        #expect(loop.seq == Seq(1))
    }

    @Test func `39 mutate passes the reducer by and shows feedbacks no event`() async {
        let reduced = Log<Counter.Event>()
        let seen = Log<(Int, Counter.Event?)>()
        let store = Store(
            initial: Counter(),
            reducer: { state, event in
                reduced.add(event)
                Counter.reduce(&state, event)
            },
            feedbacks: [
                .custom("watch") { states, _ in
                    for await (state, event) in states { seen.add((state.count, event)) }
                }
            ])
        store.mutate(keyPath: \.count, value: 5)
        store.send(event: .add(1))
        await seen.reaches(3)
        #expect(reduced.entries == [.add(1)])
        #expect(seen.entries.map(\.0) == [0, 5, 6])
        #expect(seen.entries.map(\.1) == [nil, nil, .add(1)])
    }

    @Test func `39 mutate of a part goes through the root's queue`() {
        let loop = Counter.loop(Counter(part: .init()))
        let store = Store(loop).scoped(to: \.part, event: Counter.Event.part)
        store.mutate(keyPath: \.self, value: Counter.Part(title: "new"))
        #expect(loop.state.part?.title == "new")
        #expect(loop.seq == Seq(1))
    }

    @Test func `a reader of the state is notified of the next one, and of each if it reads again`() async {
        let store = Counter.store()
        let log = Log<Int>()
        let (told, tell) = AsyncStream<Void>.makeStream()
        for number in 1...3 {
            log.add(
                withObservationTracking {
                    store.state.count
                } onChange: {
                    _ = tell.yield()
                })
            store.send(event: .add(number))
            for await _ in told { break }
        }
        #expect(log.entries == [0, 1, 3])
    }

    @Test func `a read after the notification gets the change, from whichever thread it came`() async {
        let store = Counter.store()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<100 { store.send(event: .add(1)) } }
            }
            await until({ store.state.count }, { $0 == 800 })
        }
        #expect(store.state.count == 800)
    }

    @Test func `a reader of the connection only is not notified of states`() async {
        let store = Counter.store()
        let (told, tell) = AsyncStream<String>.makeStream()
        withObservationTracking {
            _ = store.connection
        } onChange: {
            _ = tell.yield("connection")
        }
        withObservationTracking {
            _ = store.state
        } onChange: {
            _ = tell.yield("state")
        }
        store.send(event: .add(1))
        var iterator = told.makeAsyncIterator()
        #expect(await iterator.next() == "state")
    }

    @Test func `a store whose loop has ended says so`() async {
        let loop = Counter.loop()
        let store = Store(loop)
        loop.stop()
        await until({ store.connection }, { $0 == .ended(text: "") })
        store.send(event: .add(1))
        #expect(store.state.count == 0)
    }

    @Test func `a store keeps its loop alive and lets it go`() {
        var store: Store<Counter, Counter.Event>? = Counter.store()
        let context = store!.context
        weak let weakStore = store
        store = nil
        #expect(weakStore == nil)
        context.send(event: .add(1))
    }

    @Test func `a store of a definition runs it in this process`() {
        let store = Store(SignUp())
        store.send(event: .submit)
        #expect(store.state.isSubmitted)
    }

    // MARK: Scopes

    @Test func `a scope is a projection both ways, and tells of the whole's changes`() async {
        let root = Counter.store(Counter(part: .init(title: "t")))
        let scope = root.scoped(to: \.part, event: Counter.Event.part)
        #expect(scope.state?.title == "t")
        scope.send(event: .visit)
        #expect(scope.state?.visits == 1)
        #expect(root.state.part?.visits == 1)
        let (told, tell) = AsyncStream<Void>.makeStream()
        withObservationTracking {
            _ = scope.state
        } onChange: {
            _ = tell.yield()
        }
        root.send(event: .close)
        for await _ in told { break }
        #expect(scope.state == nil)
    }

    @Test func `view is a store's scoped by its older name`() {
        let store = Store(Counter.loop())
        let name = store.view(value: \.name, event: Counter.Event.rename)
        name.send(event: "a")
        #expect(name.state == "a")
        name.mutate(keyPath: \.self, value: "b")
        #expect(store.state.name == "b")
    }

    @Test func `scopes compose, and keep their root alive`() {
        var root: Store<Counter, Counter.Event>? = Counter.store(Counter(count: 1))
        let scope = root!.scoped(event: { (text: String) in .add(text.count) })
            .scoped(to: \.doubled, event: { (number: Int) in String(repeating: "x", count: number) })
        root = nil
        scope.send(event: 4)
        #expect(scope.state == 10)
        #expect(scope.connection == .local)
    }

    @Test func `a scope that ignores input shows and cannot send`() {
        let root = Counter.store(Counter(name: "a"))
        let scope: Store<Counter, Never> = root.ignoringInput()
        scope.mutate(keyPath: \.name, value: "b")
        #expect(scope.state.name == "a")
        root.send(event: .rename("c"))
        #expect(scope.state.name == "c")
    }

    @Test func `40 a store without duplicates does not tell of equal states`() async {
        let root = Counter.store()
        let distinct = root.removingDuplicates(by: { $0.count == $1.count })
        let log = Log<String>()
        withObservationTracking {
            _ = distinct.state
        } onChange: {
            log.add("told")
        }
        for name in ["a", "b", "c"] { root.send(event: .rename(name)) }
        // The next difference is told, and nothing was before.
        #expect(distinct.state.name == "")
        root.send(event: .add(1))
        await until({ distinct.state.count }, { $0 == 1 })
        #expect(log.entries == ["told"])
        #expect(distinct.state.name == "c")
    }
}
