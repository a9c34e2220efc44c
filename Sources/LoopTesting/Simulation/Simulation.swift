package import LoopCluster
import LoopCore

/// Runs many seeds, and every mutation until it is caught.
public enum Simulation {
    /// Runs the cluster of each seed.
    /// - Parameters:
    ///   - seconds: how long faults come in each, in virtual seconds.
    ///   - onFailure: called with each failure as it is found.
    public static func run(
        seeds: Range<UInt64>, seconds: Int = 58, onFailure: (SimulationFailure) -> Void = { _ in }
    ) -> SimulationReport {
        run(seeds.lazy.map { Scenario(seed: $0, seconds: seconds) }, onFailure: onFailure)
    }

    /// Runs the cluster of each scenario.
    package static func run(
        _ scenarios: some Sequence<Scenario>, onFailure: (SimulationFailure) -> Void = { _ in }
    ) -> SimulationReport {
        var report = SimulationReport()
        for scenario in scenarios {
            let cluster = SimulatedCluster(scenario)
            let failure = run(cluster)
            report.note(cluster, failure)
            if let failure { onFailure(failure) }
        }
        return report
    }

    /// The first failure of the cluster, or nil.
    /// - Parameter recording: whether a run that fails is run again to see what led there.
    package static func run(_ cluster: SimulatedCluster, recording: Bool = true) -> SimulationFailure? {
        do {
            try cluster.run()
            return nil
        } catch {
            if recording && cluster.transcript == nil { return run(cluster.again(recording: true)) }
            return SimulationFailure(
                scenario: cluster.scenario, step: cluster.stepCount, time: Transcript.seconds(cluster.now),
                violation: error, transcript: cluster.transcript?.text ?? [], faultCount: cluster.faultsDrawn)
        }
    }

    /// Breaks a rule and runs seeds until a checker sees it.
    /// - Returns: how many seeds it took, and the failure; nil: it was not seen.
    package static func hunt(
        _ rules: [Rule], seeds: Range<UInt64>, seconds: Int = 58
    ) -> (count: Int, failure: SimulationFailure)? {
        for (index, seed) in seeds.enumerated() {
            let cluster = SimulatedCluster(Scenario(seed: seed, seconds: seconds), breaking: rules)
            if let failure = run(cluster) { return (index + 1, failure) }
        }
        return nil
    }
}
