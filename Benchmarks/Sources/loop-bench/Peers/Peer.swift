/// Another system that runs jobs on workers, to be measured beside ours.
protocol Peer: Sendable {
    /// What it is, for the table.
    var name: String { get }

    /// How many effects a round has; `full` is what fast peers get.
    func count(_ full: Int) -> Int

    /// Starts its server and this number of workers in a folder of their own.
    /// - Returns: a driver, that asks for `count` effects with `window` of them outstanding.
    func start(
        in folder: String, workers: Int, window: Int, count: Int, _ roles: RoleProcesses
    ) async throws -> RoleProcess
}

extension Peer {
    /// Effects finished a second by two workers, each checked to have come once.
    func rate(window: Int, full: Int) -> CaseGroup.Variant {
        CaseGroup.Variant(name: name) { effort in
            let count = effort.count(self.count(full))
            return Double(count) / (try await measure("seconds", effort, workers: 2, window: window, count: count))
        }
    }

    /// How long one effect takes from being asked for to its result, one at a time.
    func latency(full: Int) -> CaseGroup.Variant {
        CaseGroup.Variant(name: name) { effort in
            try await measure("p50", effort, workers: 1, window: 1, count: effort.count(self.count(full)))
        }
    }

    private func measure(
        _ answer: String, _ effort: Effort, workers: Int, window: Int, count: Int
    ) async throws -> Double {
        try await effort.inFolder { folder in
            try await withRoles { roles in
                let driver = try await start(in: folder, workers: workers, window: window, count: count, roles)
                let result = try await driver.number(answer)
                guard try await driver.number("checked") == Double(count) else {
                    throw BenchmarkError.role("\(name) has not as many results as effects")
                }
                try await driver.finish()
                return result
            }
        }
    }
}
