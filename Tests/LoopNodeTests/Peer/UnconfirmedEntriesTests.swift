import LoopCluster
import LoopCollections
import LoopCore
import LoopWire
import TestFolders
import Testing
import ZMQ

@testable import LoopNode

@Suite(.timeLimit(.minutes(5))) struct `A worker that stops` {
    @Test func `says what it waits for, and what the reducer has not confirmed`() async throws {
        let (address, context, door) = (ipcAddress(), try ZMQContext(), Door())
        let jobs = Jobs { job in
            try await door.pass()
            return job
        }
        let reducer = try ReducerNode(jobs, configuration: .test(address, context))
        async let outcome = reducer.run()
        let lines = Locked<[String]>([])
        var configuration = EffectNodeConfiguration.test(address, context, "w")
        configuration.stopLimit = .seconds(3)
        configuration.log = .lines { line in lines.withLock { $0.append(line) } }
        let worker = TestWorker(try EffectNode(jobs, configuration: configuration))
        let remote = try RemoteLoop(Jobs.self, reducer: address, context: context, log: .silent)
        try await remote.sendAndConfirm(.add(2))
        while door.arrivedCount < 2 { try await Task.sleep(for: .milliseconds(5)) }
        reducer.kill()
        _ = try? await outcome
        #expect(try await worker.stop() == .stopped)
        await remote.close()
        let said = lines.withLock { $0 }.filter { $0.contains("handed back") }
        #expect(
            said == [
                "worker w: stopping: 2 effects are handed back; the reducer at \(address) has not confirmed it; waiting for it for"
                    + " 3 s in all",
                "worker w: 2 effects are handed back; the reducer at \(address) has not confirmed it within 3 s; effects that it"
                    + " does not know to be done run elsewhere after its silence limit",
            ])
    }

    @Test func `counts what it has sent by what it is`() {
        let effect = EffectID(feedback: 1, seq: Seq(9), index: 0)
        let entries = UnconfirmedEntries([
            Entry(kind: .released, effect: effect, attempt: Attempt(epoch: 1, count: 1)),
            Entry(kind: .completed, effect: effect, attempt: Attempt(epoch: 1, count: 1)),
            Entry(kind: .event, payload: [1]), Entry(kind: .event, payload: [1]),
        ])
        #expect(entries == UnconfirmedEntries(released: 1, results: 1, events: 2))
        #expect(
            entries.text(reducer: "ipc://x", within: .seconds(3), isOver: false)
                == "stopping: 1 effect is handed back, 1 effect result is left, 2 events are left; the reducer at ipc://x has not"
                + " confirmed it; waiting for it for 3 s in all")
        #expect(UnconfirmedEntries(events: 2).text(reducer: "ipc://x", within: .seconds(3), isOver: true) == nil)
        #expect(UnconfirmedEntries().text(reducer: "ipc://x", within: .seconds(3), isOver: false) == nil)
    }
}
