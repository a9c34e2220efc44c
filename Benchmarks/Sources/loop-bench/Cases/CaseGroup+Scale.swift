import Foundation
import LoopNode

extension CaseGroup {
    /// All at once, in one run: a million entries, 1,000 observers, 64 workers, 100,000 live effects, and a reducer that is
    /// killed among them. One run gives all figures.
    static let scale: [CaseGroup] = {
        let run = SingleRun { effort in try await effort.inFolder { try await ScaleRun.run(effort, folder: $0) } }
        let figures: [(String, String, @Sendable (ScaleRun.Figures) -> Double)] = [
            ("scale-entry-bytes", "bytes", { $0.entryBytes }),
            ("scale-session-bytes", "bytes", { $0.sessionBytes }),
            ("scale-effect-bytes", "bytes", { $0.effectBytes }),
            ("scale-effect-bytes-worker", "bytes", { $0.workerBytes }),
            ("scale-start-100k-effects", "s", { $0.startSeconds }),
            ("scale-recover", "s", { $0.recoverSeconds }),
            ("scale-recover-granted-anew", "effects", { $0.startedAgain }),
        ]
        return figures.map { name, unit, figure in
            CaseGroup(
                unit: unit, reference: nil, ours: [Variant(name: name) { figure(try await run.figures($0)) }], rounds: 1
            )
        }
    }()
}

/// What one run at scale came to.
private enum ScaleRun {
    struct Figures: Sendable {
        /// Resident memory of the reducer's process, for each.
        var entryBytes = 0.0
        var sessionBytes = 0.0
        var effectBytes = 0.0
        /// Of the workers' processes.
        var workerBytes = 0.0
        /// From the event that asks for them until all effects have told of their start.
        var startSeconds = 0.0
        /// From the kill of the reducer until the next one has applied an event.
        var recoverSeconds = 0.0
        /// Effects that were granted again meanwhile, since their worker was not heard of in time.
        var startedAgain = 0.0
    }

    static func run(_ effort: Effort, folder: String) async throws -> Figures {
        let (films, jobs) = (effort.count(1_000_000), effort.count(100_000))
        let (observers, workers, processes) = (effort.count(1000), 64, 4)
        let arguments = [
            "loop": Crowd.name, "journal": "\(folder)/bench.journal", "snapshot-every": "\(jobs / 2)",
            // The second reducer listens where the first did. A port that the system gives to who dials could be taken by then.
            "durability": "os", "bind": "tcp://127.0.0.1:\(18_000 + 3 * Int.random(in: 0..<4000))",
        ]
        return try await withRoles { roles in
            var figures = Figures()
            var reducer = try roles.start("reducer", arguments)
            let address = try await reducer.answer("listening")
            func ask(_ step: String, _ more: [String: String] = [:]) throws -> RoleProcess {
                try roles.start("crowd-client", more.merging(["step": step, "reducer": address]) { own, _ in own })
            }
            let empty = try reducer.residentBytes
            _ = try await ask("fill", ["films": "\(films)"]).number("seconds")
            let filled = try reducer.residentBytes
            figures.entryBytes = (filled - empty) / Double(films)

            // The workers first: status names some hundred peers and no more.
            let working = try (0..<processes).map { _ in
                try roles.start(
                    "crowd-workers",
                    [
                        "reducer": address, "count": "\(workers / processes)",
                        "capacity": "\((jobs + workers - 1) / workers)",
                    ])
            }
            while try StatusProbe.ask(ReducerAddress(parsing: address)).peers.count(where: { $0.capacity > 0 })
                < workers
            {
                try await Task.sleep(for: .milliseconds(20))
            }
            let joined = try reducer.residentBytes
            let watching = try (0..<processes).map { _ in
                try roles.start("crowd-observers", ["reducer": address, "count": "\(observers / processes)"])
            }
            for process in watching { _ = try await process.answer("following") }
            let followed = try reducer.residentBytes
            figures.sessionBytes = (followed - joined) / Double(observers)

            let idle = try (reducer.residentBytes, working.reduce(0) { $0 + (try $1.residentBytes) })
            figures.startSeconds = try await ask("run", ["jobs": "\(jobs)"]).number("seconds")
            figures.effectBytes = (try reducer.residentBytes - idle.0) / Double(jobs)
            figures.workerBytes = (try working.reduce(0) { $0 + (try $1.residentBytes) } - idle.1) / Double(jobs)

            // The journal is what there is left of it.
            let killed = MonotonicTime.seconds
            await reducer.end()
            reducer = try roles.start("reducer", arguments)
            let voter = try ask("vote")
            figures.recoverSeconds = try await voter.number("again") - killed
            _ = try await voter.number("seconds")
            for process in watching { _ = try await process.answer("seen") }
            _ = try ask("finish")
            let counts = "\(jobs) \(jobs * (jobs - 1) / 2) 1000 0"
            let outcome = try await reducer.answer("outcome")
            guard outcome.hasPrefix("\(films) \(counts) ") else {
                throw BenchmarkError.promise("the loop ended with \(outcome) in place of \(films) \(counts)")
            }
            figures.startedAgain = outcome.split(separator: " ").last.flatMap { Double($0) } ?? 0
            return figures
        }
    }
}

extension RoleProcess {
    /// The memory that the process has in use now.
    fileprivate var residentBytes: Double {
        get throws {
            let status = try String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
            guard let kilobytes = line.split(separator: " ").dropLast().last.flatMap({ Double($0) }) else {
                throw BenchmarkError.role("process \(processID) has no memory")
            }
            return kilobytes * 1024
        }
    }
}
