public import LoopCore
import LoopWire

/// What a local and a remote definition must have in common: the feedbacks and their placements.
public struct DefinitionFingerprint: Equatable, Sendable {
    /// The 64-bit FNV-1a hash of the name, the schema and the lines of `feedbacks`.
    public let value: UInt64
    /// One line for each feedback, "name@placement", in the definition's order. The order does not change `value`.
    public let feedbacks: [String]

    /// Computes the fingerprint of a definition.
    public init<Definition: LoopDefinition>(of definition: Definition) {
        feedbacks = definition.allFeedbacks.map { "\($0.name)@\($0.placement)" }
        let sorted = feedbacks.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let lines = ["\(Definition.name)#\(Definition.schema)"] + sorted
        value = StableHash.fnv1a(lines.joined(separator: "\n").utf8)
    }
}
