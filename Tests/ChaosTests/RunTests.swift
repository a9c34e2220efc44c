import Foundation
import LoopNode
import Testing

@testable import LoopChaos

/// Real processes over TCP, killed, frozen, cut off: half a minute of it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `make chaos` {
    fileprivate static func run(_ plan: ChaosPlan) async throws -> ChaosReport {
        let report = try await ChaosRun(plan) { print("chaos: \($0)") }.run()
        print(report.text)
        return report
    }

    @Test func `holds every promise for half a minute, with faults of every kind`() async throws {
        // Tests are built without optimisation: they hold fewer effects than `make chaos`.
        let plan = ChaosPlan(
            seed: SystemRandom.uint64() % 1_000_000, held: 4000, mustRunAll: true, executables: Executables.folder,
            worker: Executables.pythonWorker)
        let report = try await Self.run(plan)
        #expect(report.violations == [])
        for kind in FaultKind.ofOneReducer { #expect(report.felt(kind) > 0, "\(kind.rawValue)") }
        #expect(report.kills >= 8)
        #expect(report.restarts >= report.kills)
        #expect(report.eventsPerSecond >= Check.eventsPerSecondMin)
        #expect(report.text.contains("\n0 violations\n"))
    }

    @Test func `holds every promise while reducers and the servers of their database fail`() async throws {
        let plan = ChaosPlan(
            seed: SystemRandom.uint64() % 1_000_000, duration: .seconds(15), journal: .postgres, mustRunAll: true,
            executables: Executables.folder, worker: Executables.pythonWorker)
        let report = try await Self.run(plan)
        #expect(report.violations == [])
        #expect(report.kills >= 3)
        #expect(report.text.contains("3 servers of the database"))
    }

    @Test(arguments: [
        ["--duration", "29s"], ["--seed", "x"], ["--held", "-1"], ["--servers", "2"], ["--no-such"],
    ])
    func `does not run when it is used wrongly`(arguments: [String]) async throws {
        let result = try await Tool.finish(["\(Executables.folder)/loop-chaos"] + arguments)
        #expect(result.exit == .exited(64))
    }

    @Test func `prints the schedule of a seed`() async throws {
        let result = try await Tool.finish(["\(Executables.folder)/loop-chaos", "--schedule", "--seed", "7"])
        #expect(result.output == ChaosSchedule(seed: 7, duration: .seconds(30), holds: true).faults.map(\.description))
    }
}

/// A short run with few processes, which the other runs need not wait for.
@Suite(.timeLimit(.minutes(5))) struct `make chaos with JOURNAL=memory` {
    @Test func `sees that a reducer that keeps its events in memory loses them`() async throws {
        let plan = ChaosPlan(
            seed: 5, duration: .seconds(8), journal: .memory, held: 0, mustRunAll: true, keeping: .never,
            executables: Executables.folder)
        let report = try await `make chaos`.run(plan)
        #expect(report.felt(.reducerKilled) > 0)
        #expect(report.violations.contains { $0.check == Check.confirmedIsAppliedOnce.name })
        #expect(report.violations.contains { $0.check == Check.everySenderWasTold.name })
    }
}

/// The executables that were built next to this test bundle.
private enum Executables {
    static let folder: String = {
        let path = CommandLine.arguments.first { $0.contains(".xctest") } ?? CommandLine.arguments[0]
        var folders = path.split(separator: "/", omittingEmptySubsequences: false)
        while let last = folders.popLast(), !last.hasSuffix(".xctest"),
            folders.contains(where: { $0.hasSuffix(".xctest") })
        {}
        return folders.joined(separator: "/")
    }()

    /// A worker in Python, with the packages of Debian.
    static let pythonWorker: [String] = {
        let root = URL(filePath: #filePath).appending(path: "../../..").standardized.path()
        return [
            "/usr/bin/env", "PYTHONPATH=\(root)/python/src", "PYTHONDONTWRITEBYTECODE=1", "/usr/bin/python3",
            "\(root)/python/examples/clerk.py",
        ]
    }()
}
