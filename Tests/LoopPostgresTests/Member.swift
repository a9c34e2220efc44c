import Glibc
import LoopCollections
import LoopCore
import LoopNode
import LoopPostgres
import LoopWire

/// Counts, and takes its time for each event where a test wants that.
struct Counter: LoopDefinition {
    struct State: Codable, Sendable, Equatable { var count = 0 }
    enum Event: Codable, Sendable, Equatable { case add }

    static let name = "test"
    static let pause = Locked<UInt32>(0)
    let initial = State()
    var feedbacks: [Feedback<State, Event>] { [] }

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        usleep(Self.pause.withLock { $0 })
        state.count += 1
    }
}

/// A reducer in this process, whose journal is in a database.
final class Member: Sendable {
    let node: ReducerNode<Counter>
    let log = LogCollector()
    let address: ReducerAddress
    private let run: Task<Outcome?, any Error>

    init(_ url: ConnectionString, _ change: (inout ReducerNodeConfiguration) -> Void = { _ in }) throws {
        address = try ReducerAddress(parsing: "ipc:///tmp/loop-fault-\(getpid())-\(UInt64.random(in: 0 ... .max))")
        var configuration = ReducerNodeConfiguration(
            bind: try BindAddress(address), journal: .postgres(url), log: log.handler)
        configuration.succession = .standby
        change(&configuration)
        let node = try ReducerNode(Counter(), configuration: configuration)
        self.node = node
        run = Task { try await node.run() }
    }

    /// Asks until the report is as wanted, for a minute at most.
    func status(_ isWanted: @escaping @Sendable (StatusReport) -> Bool) async throws -> StatusReport {
        let deadline = SystemClock.monotonic + .seconds(60)
        while true {
            let report = try await NodeThread.run("probe") { [address] in
                try StatusProbe.ask(address, within: .seconds(60))
            }
            if isWanted(report) { return report }
            guard SystemClock.monotonic < deadline else {
                throw NodeError.system("no report was as wanted: \(report)\n\(log.lines.joined(separator: "\n"))")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Sends an event, and does not wait.
    func send() throws -> Task<Seq, any Error> {
        let remote = try RemoteLoop(Counter.self, reducer: address, log: .silent)
        return Task {
            let id = try await remote.sendAndConfirm(.add)
            await remote.close()
            return id.seq
        }
    }

    func stop() async {
        node.stop()
        _ = try? await run.value
    }
}
