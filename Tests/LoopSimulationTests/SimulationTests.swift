import LoopCluster
import LoopSimulation
import Testing

@Suite struct `The simulated cluster` {
    /// The scenario with all of its messages.
    private func recorded(_ scenario: Scenario) -> Scenario {
        var scenario = scenario
        scenario.transcriptLines = .max
        return scenario
    }

    /// Short seeds: a build for debugging takes its time. `make simulate` runs long ones.
    @Test(arguments: 0..<UInt64(4))
    func `keeps every promise under faults`(part: UInt64) {
        let report = Simulation.run((part * 10..<part * 10 + 10).map { Scenario(seed: $0, seconds: 10) })
        #expect(report.failures.isEmpty, "\(report.failures.map(\.description).joined(separator: "\n"))")
        // Hostile frames are a fault that not every ten seeds have; `make simulate` fails where nothing was checked.
        #expect(report.uncheckedPromises.filter { $0 != "G11" } == [])
        #expect(report.tally.eventCount > 1000)
        #expect(report.faultCount > 100)
    }

    @Test func `goes the same way again for the same seed`() throws {
        for seed in [3, 11, 42] as [UInt64] {
            let scenario = recorded(Scenario(seed: seed, seconds: 6))
            let first = Simulation.slots(scenario, records: true)
            let second = Simulation.slots(scenario, records: true)
            let unread = Simulation.slots(scenario)
            try first.run()
            try second.run()
            try unread.run()
            #expect(first.messages.count > 200)
            #expect(first.messages == second.messages)
            #expect(first.tally.stepCount == second.tally.stepCount)
            #expect(first.tally.stepCount == unread.tally.stepCount)
            #expect(unread.messages == [])
        }
    }

    @Test func `ends some loops, and runs the others as if none did`() throws {
        var endsCount = 0
        for seed in 0..<12 as Range<UInt64> {
            var scenario = recorded(Scenario(seed: seed, seconds: 4))
            let first = Simulation.slots(scenario, records: true)
            try first.run()
            #expect((first.outcome != nil) == (first.plan.end != nil))
            scenario.simpler = [.noEnd]
            let endless = Simulation.slots(scenario, records: true)
            try endless.run()
            #expect(endless.outcome == nil)
            if first.plan.end != nil { endsCount += 1 }
            #expect((first.messages == endless.messages) == (first.plan.end == nil))
        }
        #expect(endsCount > 0)
    }

    /// `loop-simulate --mutations` runs more of each mix.
    @Test(arguments: FaultMix.allCases)
    func `keeps every promise under each mix of faults`(mix: FaultMix) {
        let report = Simulation.run((0..<3).map { Scenario(seed: $0, seconds: 10, mix: mix) })
        #expect(report.failures.isEmpty, "\(report.failures.map(\.description).joined(separator: "\n"))")
        #expect(report.faultCount > 5)
    }

    @Test func `has several reducers lead in turn, the same way again for the same seed`() throws {
        let scenario = recorded(Scenario(seed: 2, seconds: 20, mix: .standbys))
        let first = Simulation.slots(scenario, records: true)
        let second = Simulation.slots(scenario, records: true)
        try first.run()
        try second.run()
        #expect(first.messages == second.messages)
        let report = Simulation.run((0..<6).map { Scenario(seed: $0, seconds: 20, mix: .standbys) })
        #expect(report.failures.isEmpty, "\(report)")
        #expect(report.tally.takeoverCount > 20)
        #expect(report.tally.warmTakeoverCount > 5)
        #expect(report.tally.completionCount > 0)
        #expect(report.tally.lateChangeCount > 0)
    }

    @Test func `goes another way for another seed`() throws {
        let first = Simulation.slots(Scenario(seed: 3, seconds: 4), records: true)
        let second = Simulation.slots(Scenario(seed: 4, seconds: 4), records: true)
        try first.run()
        try second.run()
        #expect(first.messages != second.messages)
    }

    @Test func `draws the same other faults when one is left out`() throws {
        var scenario = Scenario(seed: 5, seconds: 8)
        let all = Simulation.slots(scenario)
        try all.run()
        scenario.withoutFaults = Set(0..<all.tally.faultsDrawn)
        let none = Simulation.slots(scenario)
        try none.run()
        #expect(all.tally.faultCounts.values.reduce(0, +) > 0)
        #expect(none.tally.faultCounts == [:])
        #expect(none.tally.faultsDrawn == all.tally.faultsDrawn)
    }
}

@Suite struct `A failure of the simulator` {
    /// The first seed whose failure it is, so that the tests need none by number.
    static let found = Simulation.hunt([.duplicatesAreDropped], seeds: 0..<50, seconds: 10)

    @Test func `is shown with its seed, step, transcript and the command that repeats it`() throws {
        let failure = try #require(Self.found?.failure)
        let lines = failure.description.split(separator: "\n")
        #expect(
            lines.first?.hasPrefix("seed \(failure.seed), step \(failure.step), second \(failure.time): G") == true)
        #expect(lines.last == "again: loop-simulate --first-seed \(failure.seed) --seeds 1 --seconds 10")
        #expect(failure.transcript.count == 40)
    }

    @Test func `shrinks to few faults and steps, always the same`() throws {
        let failure = try #require(Self.found?.failure)
        let small = failure.shrunk(runsMax: 200)
        let again = failure.shrunk(runsMax: 200)
        #expect(small.failure.violation.promise == failure.violation.promise)
        #expect(small.faultCount <= 2)
        #expect(small.faultCount < failure.faultCount)
        #expect(small.failure.transcript.isEmpty == false)
        #expect(small.description == again.description)
        let rerun = Simulation.again(breaking: [.duplicatesAreDropped]).run(small.failure.scenario, false)
        #expect(rerun?.step == small.failure.step)
    }
}

@Suite struct `A broken machine` {
    /// These hold without keys, whatever hostile processes do.
    @Test(arguments: [Rule.nothingLeavesEarly, .sessionsAreBounded, .snapshotsHoldSessions])
    func `is caught among strangers too`(rule: Rule) {
        #expect(Simulation.hunt([rule], seeds: 0..<40, seconds: 20, mix: .strangers) != nil)
    }

    @Test func `is hunted for every rule`() {
        for rule in Rule.allCases { #expect(Mutation.all.contains { $0.rule == rule }, "\(rule)") }
    }
}

@Suite struct `The simulator's report` {
    @Test func `tells what was run and checked`() {
        let report = Simulation.run((0..<12).map { Scenario(seed: $0, seconds: 15) })
        let text = "\(report)"
        #expect(report.isClean, "\(text)")
        #expect(text.hasPrefix("12 seeds, "))
        for word in [
            "simulated seconds", "events", " ends, ", "faults (burst ", "checks: G1 ", "PROGRESS ", "0 violations",
        ] {
            #expect(text.contains(word), "\(text)")
        }
    }

    @Test(arguments: [([1, 2, 3, 7, 9, 10], "1-3,7,9-10"), ([0], "0"), ([], "")] as [(Set<Int>, String)])
    func `writes and reads sets of numbers`(numbers: Set<Int>, text: String) {
        #expect(NumberRanges(numbers).description == text)
        if !text.isEmpty { #expect(NumberRanges(text)?.numbers == numbers) }
    }
}
