import Glibc
import LoopCollections
import LoopCore
import LoopNode
import LoopWire
import TestFolders
import Testing

/// A loop that counts how often each number was put into it.
private struct Tally: LoopDefinition {
    struct State: Codable, Sendable, Equatable {
        var counts: [Int: Int] = [:]
    }

    enum Event: Codable, Sendable {
        case put(Int)
    }

    static let name = "tally"
    let initial = State()
    let feedbacks: [Feedback<State, Event>] = []

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .put(let number): state.counts[number, default: 0] += 1
        }
    }
}

/// `loopctl send --outbox` as a real process, killed at the worst moments.
@Suite(.timeLimit(.minutes(5))) struct `G3 G4 A sender that is killed` {
    /// A reducer in this process, a relay before it, and an outbox file.
    private final class Stage: Sendable {
        let address = ipcAddress()
        let relay: Relay
        private let reducer = Locked<(node: ReducerNode<Tally>, run: Task<Outcome?, any Error>)?>(nil)
        private let folder = TestFolder()

        init() throws {
            relay = try Relay(to: address)
            try start()
        }

        private func start() throws {
            let configuration = ReducerNodeConfiguration(
                bind: try BindAddress(address), journal: .file("\(folder.path)/tally.journal"), log: .silent)
            let node = try ReducerNode(Tally(), configuration: configuration)
            reducer.withLock { $0 = (node, Task { try await node.run() }) }
        }

        func restart() async throws {
            try await stop()
            try start()
        }

        /// What the processes wrote to standard error: shown where one ends otherwise than it should.
        let errors = Locked<[String]>([])

        /// A process that sends, and what it printed.
        func sender(_ words: [String]) throws -> (process: ChildProcess, lines: Locked<[String]>) {
            let lines = Locked<[String]>([])
            let process = try ChildProcess(
                .init(
                    Executables.path("loopctl"),
                    [
                        "send", "--reducer", relay.address.description, "--outbox", "\(folder.path)/outbox",
                        "--timeout", "60s",
                    ]
                        + words,
                    output: .lines { [errors] channel, line in
                        let kept = channel == .output ? lines : errors
                        kept.withLock { $0.append(line) }
                    }))
            return (process, lines)
        }

        func put(_ number: Int) throws -> (process: ChildProcess, lines: Locked<[String]>) {
            try sender([#"{"put":{"_0":\#(number)}}"#])
        }

        var seq: UInt64 {
            get async throws {
                let address = address
                return try await NodeThread.run("probe") { try StatusProbe.ask(address, within: .seconds(30)).seq }
            }
        }

        func counts() async throws -> [Int: Int] {
            let loop = try RemoteLoop(Tally.self, reducer: address, log: .silent)
            var counts: [Int: Int] = [:]
            for await (_, state) in loop.states {
                counts = state.counts
                break
            }
            await loop.close()
            return counts
        }

        func stop() async throws {
            guard let (node, run) = reducer.withLock({ $0 }) else { return }
            node.stop()
            _ = try await run.value
        }
    }

    @Test(arguments: [false, true])
    func `between the acceptance of its event and the acknowledgement has it applied once`(
        restartsTheReducer: Bool
    ) async throws {
        let stage = try Stage()
        stage.relay.losesAnswersToTheNextBatch()
        let (first, printed) = try stage.put(7)
        while try await stage.seq < 1 { try await Task.sleep(for: .milliseconds(5)) }
        first.kill()
        #expect(await first.wait() == .signaled(SIGKILL))
        #expect(printed.withLock { $0 } == [])
        stage.relay.letsEverythingThrough()
        if restartsTheReducer { try await stage.restart() }

        let (second, left) = try stage.sender(["--flush"])
        #expect(await second.wait() == .exited(0))
        #expect(left.withLock { $0 } == [#"recovered event 1, applied at seq 1: {"put":{"_0":7}}"#])
        let (third, nothing) = try stage.sender(["--flush"])
        #expect(await third.wait() == .exited(0))
        #expect(nothing.withLock { $0 } == ["nothing to recover"])
        let (fourth, seq) = try stage.put(8)
        #expect(await fourth.wait() == .exited(0))
        #expect(seq.withLock { $0 } == ["2"])
        #expect(try await stage.counts() == [7: 1, 8: 1])
        try await stage.stop()
    }

    @Test func `at any moment loses nothing that it accepted, and has nothing applied twice`() async throws {
        let stage = try Stage()
        var confirmed: Set<Int> = []
        var killed = 0
        for number in 0..<24 {
            let (sender, _) = try stage.put(number)
            // Each sender has a little longer to live: the moment is what is tried. A thread of its own keeps the time while
            // other tests have the pool.
            let death = try NodeThread("death") {
                usleep(UInt32(8_000 * number))
                sender.kill()
            }
            if await sender.wait() == .exited(0) { confirmed.insert(number) } else { killed += 1 }
            await death.join()
        }
        let (flush, left) = try stage.sender(["--flush"])
        #expect(await flush.wait() == .exited(0), "\(left.withLock { $0 }) \(stage.errors.withLock { $0 })")
        let counts = try await stage.counts()
        #expect(killed > 0)
        #expect(counts.values.allSatisfy { $0 == 1 })
        #expect(confirmed.isSubset(of: counts.keys))
        try await stage.stop()
    }
}
