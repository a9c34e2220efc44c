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

        init(
            refusing: SendRefusal? = nil, fields: FieldEvents<SignUp.State, SignUp.Event> = FieldEvents(SignUp.self)
        ) {
            let (updates, news) = AsyncStream<RemoteSource<SignUp.State, SignUp.Event>.Update>.makeStream()
            self.news = news
            let events = events
            let source = RemoteSource(
                updates: updates,
                send: { event throws(SendRefusal) in
                    events.add(event)
                    if let refusing { throw refusing }
                }, fields: fields)
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
        let sent = (0..<100).map { SignUp.Event.set(FieldChange(field: "age", value: .whole($0))) }
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

    @Test func `39 mutate of a registered field is an event of the definition`() async {
        let far = Far()
        far.store.mutate(keyPath: \.name, value: "n")
        far.store.mutate(keyPath: \.age, value: 7)
        far.store.mutate(keyPath: \.share, value: 0.25)
        far.store.mutate(keyPath: \.wantsNews, value: true)
        far.store.mutate(keyPath: \.nickname, value: "k")
        far.store.mutate(keyPath: \.nickname, value: nil)
        far.store.mutate(keyPath: \.plan, value: .paid)
        far.store.context.binding(for: \.address.city).value = "Rome"
        await far.events.reaches(8)
        let changes = [
            FieldChange(field: "name", value: .text("n")), FieldChange(field: "age", value: .whole(7)),
            FieldChange(field: "share", value: .decimal(0.25)), FieldChange(field: "news", value: .flag(true)),
            FieldChange(field: "nickname", value: .text("k")), FieldChange(field: "nickname", value: .empty),
            FieldChange(field: "plan", value: .text("paid")), FieldChange(field: "city", value: .text("Rome")),
        ]
        #expect(far.events.entries == changes.map { .set($0) })
        #expect(far.store.problem == nil)
        // What the reducer far away makes of them.
        var state = SignUp.State()
        let transition = Transition(seq: .initial, time: WallTime(milliseconds: 0), seed: 0)
        for event in far.events.entries { SignUp().reduce(into: &state, event, transition) }
        #expect(
            state
                == SignUp.State(
                    name: "n", age: 7, share: 0.25, wantsNews: true, plan: .paid, address: .init(city: "Rome")))
    }

    @Test func `39 mutate through a scope finds the field of the root`() async {
        let far = Far()
        let address = far.store.scoped(to: \.address, event: { (event: SignUp.Event) in event })
        address.mutate(keyPath: \.city, value: "Oslo")
        await far.events.reaches(1)
        #expect(far.events.entries == [.set(FieldChange(field: "city", value: .text("Oslo")))])
    }

    @Test(arguments: [true, false])
    func `39 mutate of a field that is not registered changes nothing and says so`(hasFields: Bool) async {
        let far = Far(fields: hasFields ? FieldEvents(SignUp.self) : .none)
        let store = far.store
        store.mutate(keyPath: \.isSubmitted, value: true)
        guard case .unregistered(let field) = store.problem else {
            Issue.record("no problem: \(String(describing: store.problem))")
            return
        }
        #expect(field.contains("isSubmitted"))
        #expect(far.events.entries.isEmpty)
    }

    @Test(arguments: [
        FieldChange(field: "isSubmitted", value: .flag(true)), FieldChange(field: "nothing", value: .empty),
        FieldChange(field: "age", value: .text("7")), FieldChange(field: "name", value: .empty),
        FieldChange(field: "plan", value: .text("gold")), FieldChange(field: "news", value: .whole(1)),
        FieldChange(field: "share", value: .flag(true)), FieldChange(field: "nickname", value: .whole(1)),
    ])
    func `39 a change of another field, or of another type, changes nothing`(change: FieldChange) {
        var state = SignUp.State()
        #expect(!SignUp.fields.apply(change, to: &state))
        #expect(state == SignUp.State())
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
