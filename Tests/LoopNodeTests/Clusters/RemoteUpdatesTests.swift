import LoopCore
import LoopNode
import LoopView
import LoopWire
import Testing
import ZMQ

/// A loop that is followed over sockets in each way that there is.
@Suite(.timeLimit(.minutes(5))) struct `Following a remote loop` {
    private struct Shelf: LoopDefinition {
        struct State: Codable, Equatable, Sendable {
            var books = TrackedDictionary<Int, String>()
            var visits = 0
        }

        enum Event: Codable, Sendable {
            case shelve(Int, String)
            case visit
        }

        static let name = "shelf"
        let initial = State()

        func reduce(into state: inout State, _ event: Event, _: Transition) {
            switch event {
            case .shelve(let number, let title): state.books[number] = title
            case .visit: state.visits += 1
            }
        }

        var feedbacks: [Feedback<State, Event>] { [] }

        var sections: [StateSection<State>] { [StateSection("visits", \.visits)] }
    }

    /// A reducer at an address of its own.
    private final class Site: Sendable {
        let context: ZMQContext
        let address: ReducerAddress
        private let node: ReducerNode<Shelf>
        private let run: Task<Outcome?, any Error>

        init(_ name: String) throws {
            context = try ZMQContext()
            address = try ReducerAddress(parsing: "inproc://following-\(name)")
            let node = try ReducerNode(Shelf(), configuration: .test(address, context))
            self.node = node
            run = Task { try await node.run() }
        }

        func remote(_ updates: StateUpdates = .full) throws -> RemoteLoop<Shelf> {
            try RemoteLoop(Shelf.self, reducer: address, updates: updates, context: context, log: .silent)
        }

        func stop() async throws {
            node.stop()
            _ = try await run.value
        }
    }

    @Test(arguments: [.full, .delta, .full(atMost: 50), .delta(atMost: 50)] as [StateUpdates])
    func `states come in order, and at last the newest`(updates: StateUpdates) async throws {
        let site = try Site("\(updates)".filter { $0.isLetter || $0.isNumber })
        let (sender, follower) = (try site.remote(), try site.remote(updates))
        try await sender.send(.shelve(1, "Emma"))
        var states = follower.states.makeAsyncIterator()
        _ = await states.next()
        for number in 2...50 { try await sender.send(.shelve(number, "book \(number)")) }
        let last = try await sender.sendAndConfirm(.visit).seq
        var seqs: [Seq] = []
        var newest: Shelf.State?
        while let (seq, state) = await states.next() {
            seqs.append(seq)
            newest = state
            if seq == last { break }
        }
        #expect(seqs == seqs.sorted())
        #expect(newest?.visits == 1)
        #expect(newest?.books.count == 50)
        #expect(follower.divergenceCount == 0)
        try await site.stop()
    }

    @Test func `a section is followed alone`() async throws {
        let site = try Site("section")
        let sender = try site.remote()
        for (expected, updates) in [(1, .full), (2, .delta)] as [(Int, StateUpdates)] {
            let visits = try RemoteSection(
                of: Shelf.self, "visits", as: Int.self, reducer: site.address, updates: updates,
                context: site.context, log: .silent)
            var states = visits.states.makeAsyncIterator()
            _ = await states.next()
            for number in 1...20 { try await sender.send(.shelve(number, "book")) }
            try await sender.sendAndConfirm(.visit)
            var seen = 0
            while seen < expected, let (_, state) = await states.next() { seen = state }
            #expect(seen == expected)
            await visits.close()
        }
        try await site.stop()
    }

    @Test func `a section that there is not is refused by those that there are`() async throws {
        let site = try Site("no-section")
        let cellar = try RemoteSection(
            of: Shelf.self, "cellar", as: Int.self, reducer: site.address, context: site.context, log: .silent)
        for await _ in cellar.states { Issue.record("a state was shown") }
        #expect("\(try #require(cellar.failure))".contains("no section \"cellar\" of its state; it has \"visits\""))
        try await site.stop()
    }

    @Test func `a store shows a loop whose differences it follows`() async throws {
        let site = try Site("store")
        let store = Store(try site.remote(.delta), showing: Shelf.State())
        for _ in 0..<3 { store.send(event: .visit) }
        await until({ store.state }, { $0.visits == 3 })
        await until({ store.connection }, { $0 == .live(Seq(3)) })
        try await site.stop()
    }
}
