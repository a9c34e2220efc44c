import LoopCore
import LoopTesting
import Testing

@testable import LoopExamples

@Suite struct `Things to do` {
    private typealias TodoLoop = TestLoop<Todo.State, Todo.Event>

    /// Adds an item, as the n-th edit.
    private func add(_ title: String, edit: Int, to loop: TodoLoop) throws -> Todo.Item {
        try loop.send(.typeTitle(title)) { $0.draft = title }
        let item = Todo.Item(id: loop.state.rows.count + 1, title: title, edit: edit)
        try loop.send(.add) {
            $0.draft = ""
            $0.rows.append(.init(item: item))
            $0.edits = edit
        }
        return item
    }

    @Test func `the item that has waited longest is sent, one at a time`() throws {
        try TestLoop.run(Todo()) { loop in
            let milk = try add("milk", edit: 1, to: loop)
            let syncMilk = try loop.expectStart("sync", milk)
            let bread = try add("bread", edit: 2, to: loop)
            try syncMilk.complete(sending: .synced(milk)) { $0.rows[0].sync = .done }
            let syncBread = try loop.expectStart("sync", bread)
            try syncBread.complete(sending: .synced(bread)) { $0.rows[1].sync = .done }
            try loop.expectNothing()
        }
    }

    @Test func `an item that is edited while it is sent is sent again`() throws {
        try TestLoop.run(Todo()) { loop in
            let milk = try add("milk", edit: 1, to: loop)
            let sync = try loop.expectStart("sync", milk)
            try loop.send(.rename(1, "oat milk")) {
                $0.rows[0].item = .init(id: 1, title: "oat milk", edit: 2)
                $0.edits = 2
            }
            try loop.expectCancel(sync)
            let oats = loop.state.rows[0].item
            let again = try loop.expectStart("sync", oats)
            try sync.send(.synced(milk), refused: .stale)
            try again.complete(sending: .synced(oats)) { $0.rows[0].sync = .done }
        }
    }

    @Test func `an edited item waits after those that have waited longer`() throws {
        try TestLoop.run(Todo()) { loop in
            let milk = try add("milk", edit: 1, to: loop)
            let syncMilk = try loop.expectStart("sync", milk)
            let bread = try add("bread", edit: 2, to: loop)
            try loop.send(.toggle(1)) {
                $0.rows[0].item.isDone = true
                $0.rows[0].item.edit = 3
                $0.edits = 3
            }
            try loop.expectCancel(syncMilk)
            try loop.expectStart("sync", bread).complete(sending: .synced(bread)) { $0.rows[1].sync = .done }
            try loop.expectStart("sync", loop.state.rows[0].item)
        }
    }

    @Test func `an edit of another item does not disturb the one that is sent`() throws {
        try TestLoop.run(Todo()) { loop in
            let milk = try add("milk", edit: 1, to: loop)
            let sync = try loop.expectStart("sync", milk)
            _ = try add("bread", edit: 2, to: loop)
            try loop.send(.rename(2, "rolls")) {
                $0.rows[1].item = .init(id: 2, title: "rolls", edit: 3)
                $0.edits = 3
            }
            #expect(sync.isRunning)
        }
    }

    @Test func `what changes nothing is no edit`() throws {
        try TestLoop.run(Todo()) { loop in
            try loop.send(.add)
            let milk = try add("milk", edit: 1, to: loop)
            let sync = try loop.expectStart("sync", milk)
            try loop.send(.rename(1, "milk"))
            try loop.send(.toggle(7))
            #expect(sync.isRunning)
        }
    }

    @Test func `after three tries an item is set aside, the next one is sent, and it can be tried again`() throws {
        try TestLoop.run(Todo()) { loop in
            let milk = try add("milk", edit: 1, to: loop)
            let sync = try loop.expectStart("sync", milk)
            let bread = try add("bread", edit: 2, to: loop)
            for number in 1...3 {
                try sync.fail(LostAnswer(number: number))
                if number < 3 {
                    try loop.advance()
                    try loop.expectStart(sync)
                }
            }
            let reason = "no answer to request 3; try again"
            try loop.expectEvent(.syncFailed(milk, reason)) { $0.rows[0].sync = .failed(reason) }
            let syncBread = try loop.expectStart("sync", bread)
            try loop.send(.syncAgain) { $0.rows[0].sync = .waiting }
            // It has waited longer, and goes first again.
            try loop.expectCancel(syncBread)
            try loop.expectStart("sync", milk)
        }
    }

    @Test func `a list that is found in the middle goes on with the same item`() throws {
        var todo = Todo()
        let items = [Todo.Item(id: 1, title: "milk", edit: 3), Todo.Item(id: 2, title: "bread", edit: 2)]
        todo.initial.rows = items.map { .init(item: $0) }
        todo.initial.edits = 3
        try TestLoop.run(todo) { loop in
            try loop.expectStart("sync", items[1]).complete(sending: .synced(items[1])) { $0.rows[1].sync = .done }
            try loop.expectStart("sync", items[0])
        }
    }

    @Test func `the server has everything in the end, each edit once, though it loses answers`() async throws {
        let clock = VirtualClock()
        let server = StubItemServer(line: StubLine(latency: .milliseconds(700), losing: 3, clock: clock))
        let loop = Loop(Todo(server: server), clock: clock)
        for title in ["milk", "bread", "eggs", "tea"] {
            loop.send(.typeTitle(title))
            loop.send(.add)
        }
        // Milk is being told, and this ends it before the server has heard of it.
        clock.advance(by: .milliseconds(600))
        loop.send(.toggle(1))
        clock.run()
        #expect(loop.state.rows.map(\.sync) == [.done, .done, .done, .done])
        let kept = await server.items
        #expect(kept == Dictionary(uniqueKeysWithValues: loop.state.rows.map { ($0.item.id, $0.item) }))
        #expect(await server.saves == 4)
        // The third and the sixth answer were lost; the server knows the keys of those that come again.
        #expect(await server.repeats == 2)
    }

    @Test func `the server keeps the newest edit, whichever comes last, and knows what comes again`() async throws {
        let server = StubItemServer(line: StubLine(latency: .zero))
        let milk = Todo.Item(id: 1, title: "milk", edit: 1)
        let oats = Todo.Item(id: 1, title: "oat milk", edit: 2)
        try await server.save(oats, key: "b")
        try await server.save(milk, key: "a")
        try await server.save(oats, key: "b")
        #expect(await server.items == [1: oats])
        #expect(await server.saves == 2)
        #expect(await server.repeats == 1)
    }
}
