import Foundation
import LoopNode
import Synchronization

extension CaseGroup {
    /// Two reducers share a journal in PostgreSQL, and the one that leads is killed, again and again, while a client sends: how long
    /// until the other one has applied an event. One run gives both figures.
    static let failover: [CaseGroup] = {
        let run = SingleRun { try await failovers(kills: max(3, Int(50 * $0.scale))) }
        let figures: [(String, @Sendable ([Double]) -> Double)] = [
            ("failover-median", { $0.median }), ("failover-longest", { $0.max() ?? 0 }),
        ]
        return figures.map { name, figure in
            CaseGroup(
                unit: "s", reference: nil, ours: [Variant(name: name) { figure(try await run.figures($0)) }],
                rounds: 1)
        }
    }()

    /// Two reducers as for `failover`, but the leader is told to let the other one lead. The figure is the median of the longest
    /// times from one applied event to the next.
    static let stepDown = CaseGroup(
        unit: "ms", reference: nil,
        ours: [
            Variant(name: "step-down-median") { effort in
                let loopctl = try await Self.loopctl(with: "step-down")
                return try await errands { pair, sender in
                    try await pair.startStandby()
                    let wanted = max(3, Int(20 * effort.scale))
                    var times: [Double] = []
                    // It is refused where the standby does not follow closely just then.
                    for _ in 0..<(5 * wanted) where times.count < wanted {
                        try await Task.sleep(for: .milliseconds(.random(in: 500..<1000)))
                        _ = sender.takeLongestPause()
                        let plan = ChildProcess.Plan(loopctl, ["step-down", "--reducer", pair.reducers])
                        guard try await ChildProcess(plan).wait().isSuccess else { continue }
                        try await pair.changeRoles()
                        // The first event behind it.
                        try await Task.sleep(for: .milliseconds(500))
                        times.append(sender.takeLongestPause() * 1000)
                    }
                    guard times.count == wanted else {
                        throw BenchmarkError.role("the leader has stepped down only \(times.count) times")
                    }
                    return times
                }.median
            }
        ], rounds: 1)

    /// The program that `LOOPCTL` names, if it has a command.
    private static func loopctl(with command: String) async throws -> String {
        guard let path = ProcessInfo.processInfo.environment["LOOPCTL"] else {
            throw BenchmarkError.leftOut("LOOPCTL names no loopctl")
        }
        // Help is given for commands that are not there, too.
        let listed = Mutex(false)
        let plan = ChildProcess.Plan(
            path, ["--help"],
            output: .lines { _, line in
                if line.split(separator: " ").first == command[...] { listed.withLock { $0 = true } }
            })
        guard let child = try? ChildProcess(plan), await child.wait().isSuccess else {
            throw BenchmarkError.leftOut(
                "\(path) cannot be run; build it: swift build -c release --product loopctl, or name another by LOOPCTL")
        }
        guard listed.withLock({ $0 }) else { throw BenchmarkError.leftOut("\(path) has no command \(command)") }
        return path
    }

    /// Runs `body` on two reducers, one of which leads, while a client sends and a worker works; then checks that every event was
    /// applied once and in order, and that no effect ran twice.
    static func errands<Result>(
        _ body: (inout ReducerPair, SteadySender) async throws -> Result
    ) async throws -> Result {
        try await withRoles { roles in
            var pair = try await ReducerPair(of: Errands.name, roles)
            let worker = try roles.start("errand-worker", ["reducer": pair.reducers])
            let sender = try SteadySender(to: pair.reducers)
            async let sent = sender.run()
            let result = try await body(&pair, sender)
            sender.finish()
            let count = try await sent
            let outcome = try await pair.leader.answer("outcome")
            let again = try await worker.answer("again")
            guard outcome == "\(count) \(count) 0 0", again == "0" else {
                throw BenchmarkError.promise(
                    "\(count) events were sent, in order, with an effect each, and the loop ended with \"\(outcome)\";"
                        + " \(again) effects ran twice")
            }
            return result
        }
    }

    /// How long each takeover behind a kill took, in seconds.
    private static func failovers(kills: Int) async throws -> [Double] {
        try await errands { pair, sender in
            var times: [Double] = []
            for _ in 0..<kills {
                try await pair.startStandby()
                // Renewals of the lease are a quarter of a second apart.
                try await Task.sleep(for: .milliseconds(.random(in: 500..<1000)))
                let killed = try await pair.killLeader()
                times.append(try await sender.resumed(after: killed) - killed)
            }
            return times
        }
    }
}
