import LoopCluster
import LoopCollections
import LoopCore
import LoopNode
import LoopWire
import TestFolders
import Testing

/// Counts, and tells the test of each event that it reduces.
private struct Steps: LoopDefinition {
    struct State: Codable, Sendable, Equatable {
        var count = 0
    }

    enum Event: Codable, Sendable {
        case step
    }

    static let name = "steps"
    let initial = State()
    let feedbacks: [Feedback<State, Event>] = []
    let onStep: @Sendable (Int) -> Void

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        state.count += 1
        onStep(state.count)
    }
}

@Suite(.timeLimit(.minutes(1))) struct `A reducer that is asked to stop` {
    private let address = ipcAddress()

    private func node(_ place: JournalPlace, onStep: @escaping @Sendable (Int) -> Void) throws -> ReducerNode<Steps> {
        var configuration = ReducerNodeConfiguration(bind: try BindAddress(address), journal: place, log: .silent)
        configuration.onListening = { _ in onStep(0) }
        return try ReducerNode(Steps(onStep: onStep), configuration: configuration)
    }

    /// A journal of ten events, without a snapshot.
    private func journal() async throws -> TestDisk {
        let disk = TestDisk()
        let first = try node(disk.place) { _ in }
        let run = Task { try await first.run() }
        let remote = try RemoteLoop(Steps.self, reducer: address, log: .silent)
        for _ in 0..<10 { try await remote.sendAndConfirm(.step) }
        await remote.close()
        first.stop()
        #expect(try await run.value == nil)
        disk.content.withLock { $0.snapshots = [] }
        return disk
    }

    @Test(arguments: [3, 10])
    func `in a replay applies no further record, writes none and never listens`(last: Int) async throws {
        let disk = try await journal()
        let records = disk.content.withLock { $0.records }
        let steps = Locked<[Int]>([])
        let current = Locked<ReducerNode<Steps>?>(nil)
        let second = try node(disk.place) { step in
            steps.withLock { $0.append(step) }
            if step == last { current.withLock { $0 }?.stop() }
        }
        current.withLock { $0 = second }
        #expect(try await second.run() == nil)
        #expect(steps.withLock { $0 } == Array(1...last))
        #expect(disk.content.withLock { $0.records } == records)
        current.withLock { $0 = nil }
    }

    @Test func `before it has begun takes no journal`() async throws {
        let disk = TestDisk()
        let reducer = try node(disk.place) { _ in }
        reducer.stop()
        #expect(try await reducer.run() == nil)
        #expect(disk.content.withLock { $0.openCount } == 0)
        #expect(disk.content.withLock { $0.records }.isEmpty)
    }
}
