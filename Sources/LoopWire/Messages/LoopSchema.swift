package import CBOR

/// The types of a loop's events, requests and state, with an example of each, for authors of such values.
package struct LoopSchema: Codable, Equatable, Sendable {
    /// The requests of one feedback.
    package struct Request: Codable, Equatable, Sendable {
        /// The name of the feedback.
        package var feedback: String
        /// Where its effects run: `local`, or `workers(GROUP)`.
        package var placement: String
        /// The type of its requests, or nil if they stay in the reducer's process and have no encoding.
        package var shape: TypeShape?
        /// An encoded request of a live effect, or nil if there is none.
        package var example: [UInt8]?
        /// How many attempts may fail before the effect has failed for good, or nil if the reducer does not say.
        package var triesMax: Int?
        /// The longest duration of one attempt, or nil if it has no limit.
        package var timeoutMilliseconds: Int64?

        /// Creates the description of a feedback's requests from its parts.
        package init(feedback: String, placement: String, shape: TypeShape?, example: [UInt8]? = nil) {
            self.feedback = feedback
            self.placement = placement
            self.shape = shape
            self.example = example
        }
    }

    /// The name of the loop.
    package var loop: String
    /// The version of its state and events as they are encoded.
    package var schema: UInt64
    /// The type of events.
    package var event: TypeShape
    /// The definition's examples of events, encoded, in its order.
    package var eventExamples: [[UInt8]]
    /// The type of the state.
    package var state: TypeShape
    /// The encoded initial state.
    package var initialState: [UInt8]
    /// The requests of each feedback that has any, in the definition's order.
    package var requests: [Request]
    /// The type of answers to events, or nil if the loop has none.
    package var answer: TypeShape?
    /// The sections of the state that observers can follow alone, by name.
    package var sections: [TypeShape.Field]?
    /// The fingerprint that workers of this schema must have, as 16 hexadecimal digits.
    package var fingerprint: String?

    /// Creates the description of a loop from its parts.
    package init(
        loop: String, schema: UInt64, event: TypeShape, eventExamples: [[UInt8]], state: TypeShape,
        initialState: [UInt8], requests: [Request]
    ) {
        self.loop = loop
        self.schema = schema
        self.event = event
        self.eventExamples = eventExamples
        self.state = state
        self.initialState = initialState
        self.requests = requests
    }
}
