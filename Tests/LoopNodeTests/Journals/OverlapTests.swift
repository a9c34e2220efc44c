import LoopCluster
import LoopCollections
import LoopCore
import LoopNode
import LoopWire
import TestFolders
import Testing
import ZMQ

/// A reducer whose journal gives receipts as late as a journal may, and senders that it keeps busy.
private struct Overlapping {
    let late = LateDisk()
    let context: ZMQContext
    let address: ReducerAddress
    /// Events whose confirmation has come before they were on the disk.
    let early = Locked<[Seq]>([])

    init() throws {
        context = try ZMQContext()
        address = ipcAddress()
    }

    func reducer(
        _ jobs: Jobs = Jobs(ends: false), _ change: (inout ReducerNodeConfiguration) -> Void = { _ in }
    ) throws -> ReducerNode<Jobs> {
        var configuration = try ReducerNodeConfiguration.test(address, context)
        configuration.journal = late.place
        configuration.machine.silenceLimit = .seconds(1)
        change(&configuration)
        return try ReducerNode(jobs, configuration: configuration)
    }

    func remote() throws -> RemoteLoop<Jobs> {
        try RemoteLoop(Jobs.self, reducer: address, context: context, log: .silent)
    }

    /// Sends notes from several places at once, one after the other from each, until it has been enough.
    /// - Returns: the notes that were confirmed.
    func send(until isEnough: @escaping @Sendable () -> Bool) async throws -> Set<String> {
        try await withThrowingTaskGroup(of: [String].self) { group in
            for sender in 0..<3 {
                group.addTask {
                    let remote = try remote()
                    var sent: [String] = []
                    while !isEnough() || sent.count < 10 {
                        let note = "\(sender) \(sent.count)"
                        let seq = try await remote.sendAndConfirm(.note(note)).seq
                        if late.seq < seq { early.withLock { $0.append(seq) } }
                        sent.append(note)
                    }
                    await remote.close()
                    return sent
                }
            }
            return try await group.reduce(into: []) { $0.formUnion($1) }
        }
    }

    /// What the journal holds after everything, each note as often as it was applied.
    func notes() async throws -> [String] {
        let remote = try remote()
        let seq = try await remote.sendAndConfirm(.forget(0)).seq
        for await (newest, state) in remote.states where newest >= seq {
            await remote.close()
            return state.notes
        }
        return []
    }
}

@Suite(.timeLimit(.minutes(3))) struct `Turns that overlap appends` {
    @Test func `G7 let nothing out before their receipt, and are four at most`() async throws {
        let nodes = try Overlapping()
        let reducer = try nodes.reducer()
        let life = Task { try await reducer.run() }
        let observer = try nodes.remote()
        let watching = Task {
            for await (seq, _) in observer.states where nodes.late.seq < seq {
                nodes.early.withLock { $0.append(seq) }
            }
        }
        let sent = try await nodes.send { nodes.late.content.withLock { $0.sentMax > 1 } }
        let notes = try await nodes.notes()
        #expect(Set(notes) == sent && notes.count == sent.count)
        #expect(nodes.early.withLock { $0 } == [])
        let sentMax = nodes.late.content.withLock { $0.sentMax }
        #expect((2...4).contains(sentMax))
        await observer.close()
        await watching.value
        reducer.stop()
        _ = try await life.value
        // It ends when all have their receipts.
        #expect(nodes.late.content.withLock { $0.violations } == [])
    }

    @Test func `are lost with the one that fails, and everything behind it comes again, once`() async throws {
        let nodes = try Overlapping()
        let reducer = try nodes.reducer()
        let life = Task { try await reducer.run() }
        nodes.late.content.withLock { $0.failsNext = true }
        let sent = try await nodes.send {
            nodes.late.disk.content.withLock { $0.openCount > 1 }
        }
        let notes = try await nodes.notes()
        #expect(Set(notes) == sent && notes.count == sent.count)
        #expect(nodes.early.withLock { $0 } == [])
        reducer.stop()
        _ = try await life.value
        #expect(nodes.late.content.withLock { $0.violations } == [])
    }

    @Test func `are waited for before a snapshot is made, the journal is asked, and the loop ends`() async throws {
        let nodes = try Overlapping()
        let reducer = try nodes.reducer(Jobs()) { $0.snapshotInterval = 5 }
        async let outcome = reducer.run()
        let worker = TestWorker(
            try EffectNode(Jobs(), configuration: .test(nodes.address, nodes.context, "one")))
        _ = try await nodes.send { nodes.late.disk.content.withLock { $0.snapshots.count > 2 } }
        let remote = try nodes.remote()
        try await remote.sendAndConfirm(.add(20))
        #expect(try await outcome == Outcome(text: "sum \((0..<20).reduce(0) { $0 + $1 * $1 })"))
        _ = try await worker.end
        await remote.close()
        #expect(nodes.late.disk.content.withLock { $0.hasEnded })
        #expect(nodes.late.content.withLock { $0.violations } == [])
        #expect(nodes.early.withLock { $0 } == [])
    }
}
