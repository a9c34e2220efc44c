import LoopCore
import LoopSimulation
import Testing

@testable import LoopExamples

@Suite struct `Things to do in a cluster` {
    private static func cluster(seed: UInt64) -> SimulatedCluster<Todo> {
        let cluster = SimulatedCluster(Todo(), seed: seed, clients: 2)
        cluster.answer("sync") { (item: Todo.Item, effect: inout SimulatedEffect<Todo.Event>) in
            effect.pause(upTo: .seconds(1))
            if effect.failures < 2, Bool.random(using: &effect.random) { effect.fail(LostAnswer(number: 1)) }
            effect.send(.synced(item))
        }
        for number in 1...6 {
            cluster.send(.typeTitle("item \(number)"), at: .milliseconds(500 * number))
            cluster.send(.add, at: .milliseconds(500 * number + 1))
        }
        cluster.client(1, every: .milliseconds(1500)) { random in
            let id = Int.random(in: 1...6, using: &random)
            return Bool.random(using: &random) ? .toggle(id) : .rename(id, "name \(random.next() % 10)")
        }
        return cluster
    }

    @Test(arguments: 0..<15 as Range<UInt64>)
    func `every edit that counts is sent in the end, whatever fails`(seed: UInt64) throws {
        let cluster = Self.cluster(seed: seed)
        cluster.invariant("at most one item is being told") { $0.toSync.count <= 1 }
        cluster.invariant("it is the one that has waited longest") { state in
            state.toSync.allSatisfy { told in
                state.rows.allSatisfy { $0.sync != .waiting || $0.item.edit >= told.edit }
            }
        }
        let end = try cluster.run()
        #expect(end.state.rows.allSatisfy { $0.sync == .done })
        // What the server was told of each item last is what the item is.
        var told: [Int: Todo.Item] = [:]
        for case .synced(let item) in end.events {
            // Only newer edits, each once: nothing of a cancelled effect, nothing twice.
            #expect((told[item.id]?.edit ?? 0) < item.edit)
            told[item.id] = item
        }
        #expect(told == Dictionary(uniqueKeysWithValues: end.state.rows.map { ($0.item.id, $0.item) }))
    }

    @Test func `a worker that dies with an item leaves it to another one`() throws {
        let cluster = SimulatedCluster(Todo(), seed: 1, faults: .none)
        cluster.answer("sync") { (item: Todo.Item, effect: inout SimulatedEffect<Todo.Event>) in
            // The first attempt gets nowhere. Only a later one is told that an earlier one may have got through.
            if !effect.isResumed { effect.runForever() }
            effect.send(.synced(item))
        }
        cluster.send(.typeTitle("milk"), at: .seconds(1))
        cluster.send(.add, at: .seconds(1))
        cluster.at(.seconds(4)) {
            for worker in 0..<3 { $0.killWorker(worker) }
        }
        let end = try cluster.run()
        #expect(end.events.count { if case .synced = $0 { true } else { false } } == 1)
        #expect(end.state.rows.map(\.sync) == [.done])
    }
}
