import LoopCore
import LoopNode
import LoopNodeTesting
import Testing

/// What docs/services.md shows. ProjectTests compares the text.
func serve(_ definition: some LoopDefinition) async throws {
    try await withThrowingTaskGroup { group in
        group.addTask { _ = try await ReducerNode(definition).run() }
        group.addTask { _ = try await EffectNode(definition).run() }
        // The first that ends ends the other too.
        try await group.next()
        group.cancelAll()
    }
}

private struct Database {
    static func connect(_ url: String) async throws -> Database { Database() }
}

/// A definition whose effects need something that is made with `await`.
private struct Shop: LoopDefinition {
    static let name = "shop"
    let initial = 0
    let database: Database

    func reduce(into state: inout Int, _ event: Int, _: Transition) { state += event }

    var feedbacks: [Feedback<Int, Int>] { [] }
}

private func work(_ url: String) async throws {
    let node = try EffectNode(Shop(database: await Database.connect(url)))
    _ = try await node.run()
}

private func program(_ url: String) async {
    await EffectNode.main {
        Shop(database: try await Database.connect(url))
    }
}

/// Accounts into which one can pay.
private struct Savings: LoopDefinition {
    enum Event: Codable, Sendable {
        case deposit(String, Int)
    }

    static let name = "savings"
    let initial: [String: Int] = [:]

    func reduce(into state: inout [String: Int], _ event: Event, _: Transition) {
        switch event {
        case .deposit(let account, let amount): state[account, default: 0] += amount
        }
    }

    var feedbacks: [Feedback<[String: Int], Event>] { [] }
}

@Suite(.timeLimit(.minutes(5))) struct `The page about asking` {
    @Test func `reads what it has written, by the seq of its event`() async throws {
        try await LocalCluster.run(Savings(), workers: 0) { cluster in
            let loop = try cluster.remote()
            let id = try await loop.sendAndConfirm(.deposit("ann", 100))
            let (_, state) = try await loop.state(atLeast: id)
            #expect(state == ["ann": 100])
        }
    }
}
