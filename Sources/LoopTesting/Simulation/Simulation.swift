package import LoopCluster
import LoopCore

/// Runs many seeds, and every mutation until it is caught.
public enum Simulation {
    /// Runs the cluster of each seed.
    /// - Parameter onFailure: called with each failure as it is found.
    public static func run(
        seeds: Range<UInt64>, onFailure: (SimulationFailure) -> Void = { _ in }
    ) -> SimulationReport {
        var report = SimulationReport()
        for seed in seeds {
            let cluster = SimulatedCluster(seed: seed)
            let failure = run(cluster)
            report.note(cluster, failure)
            if let failure { onFailure(failure) }
        }
        return report
    }

    /// The first failure of the cluster, or nil.
    package static func run(_ cluster: SimulatedCluster) -> SimulationFailure? {
        do {
            try cluster.run()
            return nil
        } catch {
            return SimulationFailure(
                seed: cluster.seed, step: cluster.stepCount, time: Transcript.seconds(cluster.now),
                violation: error.description, transcript: cluster.transcript.text)
        }
    }

    /// Breaks a rule and runs seeds until a checker sees it.
    /// - Returns: how many seeds it took, and the failure; nil: it was not seen.
    package static func hunt(_ rules: [Rule], seeds: Range<UInt64>) -> (count: Int, failure: SimulationFailure)? {
        for (index, seed) in seeds.enumerated() {
            if let failure = run(SimulatedCluster(seed: seed, breaking: rules)) { return (index + 1, failure) }
        }
        return nil
    }
}
