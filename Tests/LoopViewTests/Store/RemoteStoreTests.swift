import LoopCollections
import LoopCore
import LoopView
import Testing

@Suite struct `Remote stores` {
    /// A reducer far away: gets events, and says what it wants.
    private struct Far {
        let events = Log<SignUp.Event>()
        let news: AsyncStream<RemoteSource<SignUp.State, SignUp.Event>.Update>.Continuation
        let store: Store<SignUp.State, SignUp.Event>

        init(refusing: SendRefusal? = nil) {
            let (updates, news) = AsyncStream<RemoteSource<SignUp.State, SignUp.Event>.Update>.makeStream()
            self.news = news
            let events = events
            let source = RemoteSource(
                updates: updates,
                send: { event throws(SendRefusal) in
                    events.add(event)
                    if let refusing { throw refusing }
                })
            store = Store(remote: source, showing: SignUp.State())
        }

        func tell(_ name: String?, _ connection: StoreConnection) {
            news.yield(.init(state: name.map { SignUp.State(name: $0) }, connection: connection))
        }
    }

    @Test func `a placeholder is shown while the store connects, then what comes`() async {
        let far = Far()
        let store = far.store
        #expect(store.connection == .connecting)
        #expect(!store.connection.isCurrent)
        #expect(store.state == SignUp.State())
        far.tell("a", .live(Seq(7)))
        await until({ (store.state.name, store.connection) }, { $0.0 == "a" && $0.1 == .live(Seq(7)) })
        #expect(store.connection.description == "live at 7")
        far.tell(nil, .behind(Seq(7)))
        await until({ store.connection }, { $0 == .behind(Seq(7)) })
        #expect(store.state.name == "a")
        far.tell(nil, .ended(text: "sum 5"))
        far.news.finish()
        await until({ store.connection }, { $0 == .ended(text: "sum 5") })
    }

    @Test func `the end of the news is the end of the loop`() async {
        let far = Far()
        far.news.finish()
        await until({ far.store.connection }, { $0 == .ended(text: "") })
    }

    @Test func `events go out in the order in which they were sent`() async {
        let far = Far()
        let sent = (0..<100).map { SignUp.Event.rename("\($0)") }
        for event in sent { far.store.send(event: event) }
        await far.events.reaches(100)
        #expect(far.events.entries == sent)
    }

    @Test func `events that were accepted go out also when the store is released`() async {
        let events: Log<SignUp.Event>
        do {
            let far = Far()
            events = far.events
            for _ in 0..<10 { far.store.send(event: .submit) }
        }
        await events.reaches(10)
    }

    @Test func `a refusal becomes the store's problem until it is forgotten`() async {
        let far = Far(refusing: SendRefusal(.overloaded))
        far.store.send(event: .submit)
        await until({ far.store.problem }, { $0 == .refused(SendRefusal(.overloaded)) })
        far.store.forgetProblem()
        #expect(far.store.problem == nil)
    }

    @Test func `39 mutate of a loop that runs elsewhere changes nothing and says what to do`() {
        let part: @Sendable (SignUp.Event) -> SignUp.Event = { $0 }
        let changes: [(Store<SignUp.State, SignUp.Event>) -> Void] = [
            { $0.mutate(keyPath: \.name, value: "n") },
            { $0.context.binding(for: \.address.city).value = "Rome" },
            { $0.scoped(to: \.address, event: part).mutate(keyPath: \.city, value: "Oslo") },
            { $0.context.view(value: \.address, event: part).binding(for: \.city).value = "Bern" },
        ]
        for change in changes {
            let far = Far()
            change(far.store)
            #expect(far.store.problem == .changedWithoutEvent)
            #expect(
                far.store.problem?.description
                    == "only events change a loop that runs elsewhere; name an event: binding(for:event:)")
            #expect(far.store.state == SignUp.State())
            #expect(far.events.entries.isEmpty)
        }
    }

    @Test func `38 a binding with an event sends it to a loop that runs elsewhere`() async {
        let far = Far()
        far.store.context.binding(for: \.name, event: { .rename($0) }).value = "n"
        await far.events.reaches(1)
        #expect(far.events.entries == [.rename("n")])
        #expect(far.store.problem == nil)
    }

    @Test func `events that wait for a loop out of reach have a limit`() async {
        let (updates, _) = AsyncStream<RemoteSource<Int, Int>.Update>.makeStream()
        let (gate, open) = AsyncStream<Void>.makeStream()
        let sent = Log<Int>()
        let store = Store(
            remote: RemoteSource<Int, Int>(
                updates: updates,
                send: { event throws(SendRefusal) in
                    if event == 0 { for await _ in gate { break } }
                    sent.add(event)
                }), showing: 0)
        for number in 0..<3000 { store.send(event: number) }
        guard case .refused(let refusal) = store.problem else {
            Issue.record("no limit")
            return
        }
        #expect(refusal.reason == .overloaded)
        open.yield()
        await sent.reaches(1024)
        #expect(sent.entries.prefix(1024).elementsEqual(0..<1024))
    }
}
