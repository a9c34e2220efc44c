import LoopCore
import LoopWire

/// The effects of a definition, for a node that receives grants.
struct DefinitionEffects: Sendable {
    /// By name, which is the same in every process; the numbers differ between journals.
    private let feedbacks: [String: any FeedbackEffects]
    /// The executor of bodies, or nil for Swift's pool.
    private let executor: (any TaskExecutor)?

    init<Definition: LoopDefinition>(
        _ definition: Definition, coder: any ValueCoder, on executor: (any TaskExecutor)? = nil
    ) {
        self.executor = executor
        feedbacks = Dictionary(
            definition.allFeedbacks.map { ($0.name, CodableEffects($0, loop: Definition.name, coder: coder)) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Whether bodies run on Swift's pool.
    var arePooled: Bool { executor == nil }

    /// The effects of a feedback, or nil if the definition has none of this name.
    subscript(feedback: String?) -> (any FeedbackEffects)? { feedback.flatMap { feedbacks[$0] } }

    /// Starts bodies in the order in which they were granted.
    func start(_ bodies: [EffectBody]) { BodyRunner.start(bodies, on: executor) }
}
