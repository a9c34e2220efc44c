package import LoopCluster

/// Runs many seeds, and every mutation until it is caught.
package enum Simulation {
    /// Runs the cluster of each scenario.
    /// - Parameter onFailure: called with each failure as it is found.
    package static func run(
        _ scenarios: some Sequence<Scenario>, onFailure: (SimulationFailure) -> Void = { _ in }
    ) -> SimulationReport {
        var report = SimulationReport()
        for scenario in scenarios {
            let cluster = slots(scenario)
            let failure = failure(of: cluster, again: again(breaking: []))
            report.note(cluster, failure)
            if let failure { onFailure(failure) }
        }
        return report
    }

    /// The simulator's own loop in a cluster.
    /// - Parameter records: whether to keep the messages for people.
    package static func slots(
        _ scenario: Scenario, breaking rules: [Rule] = [], records: Bool = false
    ) -> World<SlotWorkload> {
        var plan = SimulationPlan.drawn(scenario, .own)
        scenario.mix.shape(&plan.0, scenario)
        plan.0.addEnd(scenario)
        if scenario.seed % 3 == 0 || plan.0.end != nil {
            plan.0.addObservers(2, scenario, sections: 2, parts: [nil, 20])
        }
        if scenario.mix == .all { plan.0.addLimits(scenario) }
        if scenario.mix == .all, scenario.seed % 5 == 2 { plan.0.hasTimers = true }
        if scenario.mix.hasKeys(scenario) { plan.0.addKeys() }
        if scenario.mix == .all || scenario.mix == .sessions { plan.0.addOutboxFiles(scenario) }
        if scenario.mix == .all { plan.0.addOverlap(scenario) }
        return World(
            scenario, plan: plan, work: SlotWorkload(plan: plan.0), breaking: rules, records: records)
    }

    /// How to run the scenarios of the simulator's own loop again.
    package static func again(breaking rules: [Rule]) -> Again {
        Again(
            command: { $0.command },
            run: { scenario, records in
                failure(
                    of: slots(scenario, breaking: rules, records: records), again: again(breaking: rules),
                    recording: false)
            })
    }

    /// Runs a cluster to its end.
    /// - Parameters:
    ///   - again: how to run it again.
    ///   - recording: whether to run a failing run again, in order to record its messages.
    /// - Returns: the first failure, or nil.
    static func failure<Work>(
        of cluster: World<Work>, again: Again, recording: Bool = true
    ) -> SimulationFailure? {
        do {
            try cluster.run()
            return nil
        } catch {
            if recording, cluster.transcript == nil, let seen = again.run(cluster.scenario, true) { return seen }
            return SimulationFailure(
                scenario: cluster.scenario, step: cluster.tally.stepCount, time: Transcript.seconds(cluster.now),
                violation: error, transcript: cluster.messages, faultCount: cluster.tally.faultsDrawn,
                again: again)
        }
    }

    /// Breaks a rule and runs seeds until a checker notices it.
    /// - Returns: the number of seeds, and the failure, or nil if no checker noticed it.
    package static func hunt(
        _ rules: [Rule], seeds: Range<UInt64>, seconds: Int = 58, mix: FaultMix = .all
    ) -> (count: Int, failure: SimulationFailure)? {
        for (index, seed) in seeds.enumerated() {
            let cluster = slots(Scenario(seed: seed, seconds: seconds, mix: mix), breaking: rules)
            if let failure = failure(of: cluster, again: again(breaking: rules)) { return (index + 1, failure) }
        }
        return nil
    }
}
