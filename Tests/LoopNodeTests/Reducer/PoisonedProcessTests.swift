import LoopCluster
import LoopCore
import LoopNode
import LoopWire
import TestFolders
import Testing

/// Real reducer processes over one journal, each started when the one before has ended, as a supervisor does it. The tests run
/// one at a time, since each process that runs takes one of the threads that all tests' tasks share.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `A reducer process that an event ends` {
    private let temporary = TestFolder()
    private var folder: String { temporary.path }

    private static func serve(_ folder: String) async throws {
        var configuration = ReducerNodeConfiguration(
            bind: try BindAddress(parsing: "ipc://\(folder)/reducer"), journal: .file("\(folder)/fuses.journal"))
        configuration.machine.silenceLimit = .milliseconds(500)
        configuration.shutdownGracePeriod = .milliseconds(500)
        let outcome = try await ReducerNode(Fuses(), configuration: configuration).run()
        guard outcome?.text == "counted 2" else { fatalError("the loop ended with \(String(describing: outcome))") }
    }

    /// Two lives end in the event; the third ends with the loop.
    private func live(while body: @escaping @Sendable (RemoteLoop<Fuses>) async throws -> Void) async throws {
        let remote = try RemoteLoop(
            Fuses.self, reducer: ReducerAddress(parsing: "ipc://\(folder)/reducer"), log: .silent)
        let client = Task { try await body(remote) }
        for _ in 0..<2 {
            await #expect(processExitsWith: .failure) { [folder = folder as String] in try await Self.serve(folder) }
        }
        await #expect(processExitsWith: .success) { [folder = folder as String] in try await Self.serve(folder) }
        try await client.value
    }

    @Test func `twice goes on without it, and its sender is told`() async throws {
        try await live { remote in
            #expect(try await remote.sendAndConfirm(.step).seq == Seq(1))
            let refusal = await #expect(throws: SendRefusal.self) { try await remote.sendAndConfirm(.trap) }
            #expect(refusal?.reason == .quarantined)
            #expect(try await remote.sendAndConfirm(.step).seq == Seq(2))
            try await remote.send(.finish)
        }
    }

    @Test func `twice goes on also where an effect of its own process sent it`() async throws {
        let address = try ReducerAddress(parsing: "ipc://\(folder)/reducer")
        try await live { remote in
            try await remote.sendAndConfirm(.step)
            try await remote.sendAndConfirm(.step)
            try await remote.sendAndConfirm(.arm)
            var report: StatusReport?
            // The effect has tried once more, with the same bytes, and was refused at once.
            while report?.parked.isEmpty ?? true {
                report = try? await NodeThread.run("probe") { try StatusProbe.ask(address, within: .seconds(1)) }
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(report?.quarantined == 1)
            #expect(report?.warnings.count == 1)
            #expect(report?.counters["quarantined"] == 1)
            #expect(report?.counters["refusedQuarantined"] == 1)
            try await remote.send(.finish)
        }
    }
}
