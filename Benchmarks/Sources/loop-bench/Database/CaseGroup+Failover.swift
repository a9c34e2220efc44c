import LoopNode

extension CaseGroup {
    /// Two reducers share a journal in PostgreSQL, and the one that leads is killed, again and again, while a client sends: how long
    /// until the other one has applied an event. One run gives both figures.
    static let failover: [CaseGroup] = {
        let run = FailoverRun()
        let figures: [(String, @Sendable ([Double]) -> Double)] = [
            ("failover-median", { $0.median }), ("failover-longest", { $0.max() ?? 0 }),
        ]
        return figures.map { name, figure in
            CaseGroup(
                unit: "ms", reference: nil,
                ours: [Variant(name: name) { figure(try await run.milliseconds($0)) }], rounds: 1)
        }
    }()
}

/// All kills of a run; it is run once.
private actor FailoverRun {
    private static let killsCount = 50.0
    private var known: [Double]?

    func milliseconds(_ effort: Effort) async throws -> [Double] {
        if let known { return known }
        let times = try await Self.run(kills: max(3, Int(Self.killsCount * effort.scale)))
        known = times
        return times
    }

    private static func run(kills: Int) async throws -> [Double] {
        let journal = try await Databases.shared.make(.one)
        // A reducer listens where it did before. A port that the system gives to who dials could be taken by then.
        let port = 18_000 + 6 * Int.random(in: 0..<2000)
        let addresses = [port, port + 3].map { "tcp://127.0.0.1:\($0)" }
        let both = addresses.joined(separator: ",")
        return try await withRoles { roles in
            func start(_ number: Int) throws -> RoleProcess {
                try roles.start(
                    "reducer",
                    ["loop": Errands.name, "journal": journal, "standby": "yes", "bind": addresses[number % 2]])
            }
            var leader = try start(0)
            _ = try await leader.answer("leads")
            let worker = try roles.start("errand-worker", ["reducer": both])
            let sender = try SteadySender(to: both)
            async let sent = sender.run()
            var times: [Double] = []
            for number in 1...kills {
                let standby = try start(number)
                _ = try await standby.line(with: "the leader is at")
                // Renewals of the lease are a quarter of a second apart.
                try await Task.sleep(for: .milliseconds(.random(in: 500..<1000)))
                let killed = MonotonicTime.seconds
                await leader.end()
                _ = try await standby.answer("leads")
                times.append((try await sender.resumed(after: killed) - killed) * 1000)
                leader = standby
            }
            sender.finish()
            let count = try await sent
            let outcome = try await leader.answer("outcome")
            guard outcome == "\(count) \(count) 0 0", try await worker.number("again") == 0 else {
                throw BenchmarkError.promise(
                    "\(count) events were sent and as many effects wanted, each once and in order, and the loop ended with"
                        + " \"\(outcome)\"")
            }
            return times
        }
    }
}
