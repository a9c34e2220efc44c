package import CBOR
package import LoopCore
package import LoopWire

/// The shapes of a definition's types in documents.
package struct DefinitionTypes<Definition: LoopDefinition> {
    private let definition: Definition
    private let coder: any ValueCoder
    private let probe = TypeProbe()

    /// Learns the types from the definition's examples.
    package init(_ definition: Definition, coder: any ValueCoder) {
        self.definition = definition
        self.coder = coder
        // An example that cannot be encoded is skipped.
        for example in Definition.examples {
            if let bytes = try? coder.encode(example) { try? probe.learn(Definition.Event.self, from: bytes) }
        }
    }

    /// What is wrong with bytes that should be an event, and which keys in them are not read.
    /// - Parameter schema: the schema of the bytes, if it is an older one.
    package func explanation(of event: [UInt8], from schema: UInt64?) -> DecodingExplanation {
        guard let schema else { return probe.explain(Definition.Event.self, event) }
        do {
            _ = try definition.migrateEvent(Encoded(event, coder: coder), from: Int(clamping: schema))
            return DecodingExplanation(error: nil, unknownKeys: [])
        } catch {
            return DecodingExplanation(error: "as an event of schema \(schema): \(error)", unknownKeys: [])
        }
    }

    /// The whole schema, also learned from the initial state.
    package func schema() throws -> LoopSchema {
        let initial = try coder.encode(definition.initial)
        try? probe.learn(Definition.State.self, from: initial)
        let state = probe.shape(of: Definition.State.self)
        let requests = definition.allFeedbacks.filter { $0.makeQuery != nil }.map { feedback in
            var request = LoopSchema.Request(
                feedback: feedback.name, placement: "\(feedback.placement)",
                shape: feedback.requestCoding.map { shape(of: $0.type) })
            request.triesMax = feedback.policy.retry.attemptsMax
            request.timeoutMilliseconds = feedback.policy.timeout.map { $0.wholeNanoseconds / 1_000_000 }
            return request
        }
        var schema = LoopSchema(
            loop: Definition.name, schema: UInt64(Definition.schema), event: probe.shape(of: Definition.Event.self),
            eventExamples: Definition.examples.compactMap { try? coder.encode($0) }, state: state,
            initialState: try ShownState.encode(definition.initial), requests: requests)
        if Definition.Answer.self != Never.self { schema.answer = probe.shape(of: Definition.Answer.self) }
        let sections = definition.sections.map { TypeShape.Field($0.name, shape(of: $0.reading)) }
        if !sections.isEmpty { schema.sections = sections }
        schema.fingerprint = hexadecimal(DefinitionFingerprint(of: definition).value)
        return schema
    }

    private func shape<Section: SectionReading>(of section: Section) -> TypeShape {
        probe.shape(of: Section.Value.self)
    }

    private func shape(of type: any Decodable.Type) -> TypeShape { probe.shape(of: type) }
}
