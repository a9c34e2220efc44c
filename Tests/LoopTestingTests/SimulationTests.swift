import LoopCluster
import LoopTesting
import Testing

@Suite struct `The simulated cluster` {
    @Test(arguments: 0..<UInt64(4))
    func `keeps every promise under faults`(part: UInt64) {
        let report = Simulation.run(seeds: part * 15..<part * 15 + 15)
        #expect(report.failures.isEmpty, "\(report.failures.map(\.description).joined(separator: "\n"))")
        #expect(report.uncheckedPromises == [])
        #expect(report.eventCount > 1000)
        #expect(report.faultCount > 100)
    }

    @Test(arguments: [5, 16, 20, 21, 73, 123, 229, 232, 384, 2305, 2389] as [UInt64])
    func `passes the seeds that once found a bug`(seed: UInt64) {
        let failure = Simulation.run(SimulatedCluster(seed: seed))
        #expect(failure == nil, "\(failure.map(\.description) ?? "")")
    }

    @Test func `goes the same way again for the same seed`() throws {
        for seed in [3, 11, 42] as [UInt64] {
            let first = SimulatedCluster(seed: seed)
            let second = SimulatedCluster(seed: seed)
            try first.run()
            try second.run()
            #expect(first.transcript.hash == second.transcript.hash)
            #expect(first.transcript.text == second.transcript.text)
            #expect(first.stepCount == second.stepCount)
        }
    }

    @Test func `goes another way for another seed`() throws {
        let first = SimulatedCluster(seed: 3)
        let second = SimulatedCluster(seed: 4)
        try first.run()
        try second.run()
        #expect(first.transcript.hash != second.transcript.hash)
    }

    @Test func `shows a failure with its seed, step, transcript and the command that repeats it`() throws {
        let failure = try #require(
            Simulation.run(SimulatedCluster(seed: 0, breaking: [.duplicatesAreDropped])))
        let lines = failure.description.split(separator: "\n")
        #expect(lines.first?.hasPrefix("seed 0, step \(failure.step), second \(failure.time): G") == true)
        #expect(lines.last == "again: loop-simulate --first-seed 0 --seeds 1")
        #expect(failure.transcript.count == 40)
    }
}

@Suite struct `A broken machine` {
    /// Those that take few seeds; `loop-simulate --mutations` hunts all of them.
    static let quick = Mutation.all.filter { $0.budget <= 100 }

    @Test(arguments: quick.indices)
    func `is caught by a checker`(index: Int) throws {
        let mutation = Self.quick[index]
        let caught = Simulation.hunt(mutation.rules, seeds: 0..<mutation.budget)
        #expect(caught != nil, "\(mutation) was not caught in \(mutation.budget) seeds")
    }

    @Test func `is hunted for every rule`() {
        for rule in Rule.allCases { #expect(Mutation.all.contains { $0.rules.contains(rule) }, "\(rule)") }
    }
}
