import LoopCluster
import LoopCore
import LoopWire

/// The data of a run's loop that do not depend on the loop's types.
struct SimulatedLoop {
    let id: LoopID
    let fingerprint: DefinitionFingerprint
    /// The groups of workers in which effects are placed.
    let workerGroups: [String]
    /// Whether some effects run in the reducer's process.
    let hasLocalEffects: Bool
    let coder: any ValueCoder
    let limits: WorkloadLimits

    init<Work: Workload>(_ work: Work) {
        let feedbacks = work.definition.allFeedbacks
        id = LoopID(name: Work.Definition.name)
        fingerprint = DefinitionFingerprint(of: work.definition)
        workerGroups = Set(feedbacks.map(\.placement.group)).subtracting([localGroup, reducerGroup]).sorted()
        hasLocalEffects = feedbacks.contains { $0.placement == .local && $0.makeQuery != nil }
        coder = work.coder
        limits = work.limits
    }
}
