import Glibc
import LoopCollections
import LoopCore
import LoopNode
import Testing
import ZMQ

/// Identifies the calling thread while it lives.
private var currentThread: UInt { UInt(pthread_self()) }

@Suite(.timeLimit(.minutes(5))) struct `Tasks on the thread of a connection` {
    @Test func `send, and are told what became of it, on that thread`() async throws {
        let cluster = try TestCluster("own-thread", Jobs(ends: false))
        let remote = try cluster.remote()
        var threads: Set<UInt> = []
        try await withTaskExecutorPreference(remote.executor) {
            for number in 1...100 {
                let seq = try await remote.sendAndConfirm(.note("\(number)")).seq
                #expect(seq == Seq(UInt64(number)))
                threads.insert(currentThread)
            }
        }
        #expect(threads.count == 1)
        #expect(!threads.contains(currentThread))
        await remote.close()
        _ = try await cluster.stop()
    }

    @Test func `and tasks elsewhere: each event is applied once, in the order of its sender`() async throws {
        let cluster = try TestCluster("own-thread-and-others", Jobs(ends: false))
        let remote = try cluster.remote()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for sender in 0..<8 {
                group.addTask(executorPreference: sender.isMultiple(of: 2) ? remote.executor : nil) {
                    for number in 0..<200 {
                        let event = Jobs.Event.note("\(sender) \(number)")
                        if number.isMultiple(of: 3) {
                            try await remote.sendAndConfirm(event)
                        } else {
                            try await remote.send(event)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        try await remote.sendAndConfirm(.note("end"))
        for await (_, state) in remote.states where state.notes.last == "end" {
            #expect(state.notes.count == 8 * 200 + 1)
            for sender in 0..<8 {
                let own = state.notes.filter { $0.hasPrefix("\(sender) ") }
                #expect(own == (0..<200).map { "\(sender) \($0)" })
            }
            break
        }
        await remote.close()
        _ = try await cluster.stop()
    }

    @Test func `go on elsewhere when the connection has ended`() async throws {
        let cluster = try TestCluster("own-thread-ended", Jobs(ends: false))
        let remote = try cluster.remote()
        try await withTaskExecutorPreference(remote.executor) {
            try await remote.sendAndConfirm(.note("one"))
            // Returns when that thread has ended.
            await remote.close()
            await Task.yield()
            await #expect(throws: SendRefusal.self) { try await remote.sendAndConfirm(.note("two")) }
        }
        _ = try await cluster.stop()
    }
}

@Suite(.timeLimit(.minutes(5))) struct `Effects on the thread of their node` {
    @Test func `start, wait and end there`() async throws {
        let threads = Locked(Set<UInt>())
        let note: @Sendable () -> Void = { threads.withLock { _ = $0.insert(currentThread) } }
        let jobs = Jobs(work: { job in
            note()
            if job.isMultiple(of: 3) { try await Task.sleep(for: .milliseconds(1)) }
            note()
            return job * job
        })
        let cluster = try TestCluster("own-thread-effects", jobs)
        var configuration = EffectNodeConfiguration.test(cluster.address, cluster.context, "own")
        configuration.runsEffectsOnItsThread = true
        let node = try EffectNode(jobs, configuration: configuration)
        async let end = node.run()
        let remote = try cluster.remote()
        try await remote.sendAndConfirm(.add(100))
        #expect(try await end == .loopEnded(exitCode: 0, text: "sum 328350"))
        #expect(threads.withLock { $0.count } == 1)
        await remote.close()
        _ = try await cluster.stop()
    }

    @Test func `G5 are cancelled while they wait`() async throws {
        let cancelled = AsyncStream.makeStream(of: Int.self)
        let begun = AsyncStream.makeStream(of: Int.self)
        let jobs = Jobs(
            ends: false,
            work: { job in
                begun.continuation.yield(job)
                do {
                    try await Task.sleep(for: .seconds(3600))
                } catch {
                    cancelled.continuation.yield(job)
                    throw error
                }
                return job
            })
        let cluster = try TestCluster("own-thread-cancelled", jobs)
        var configuration = EffectNodeConfiguration.test(cluster.address, cluster.context, "own")
        configuration.runsEffectsOnItsThread = true
        let node = try EffectNode(jobs, configuration: configuration)
        async let end = node.run()
        let remote = try cluster.remote()
        try await remote.sendAndConfirm(.add(1))
        for await job in begun.stream where job == 0 { break }
        try await remote.sendAndConfirm(.forget(0))
        for await job in cancelled.stream where job == 0 { break }
        await remote.close()
        node.stop()
        #expect(try await end == .stopped)
        _ = try await cluster.stop()
    }
}
