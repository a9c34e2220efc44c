public import CBOR

/// The types of a loop's events, requests and state, with an example of each, for authors of such values.
public struct LoopSchema: Codable, Equatable, Sendable {
    /// The requests of one feedback.
    public struct Request: Codable, Equatable, Sendable {
        /// The name of the feedback.
        public var feedback: String
        /// Where its effects run: `local`, or `workers(GROUP)`.
        public var placement: String
        /// The type of its requests, or nil if they stay in the reducer's process and have no encoding.
        public var shape: TypeShape?
        /// An encoded request of a live effect, or nil if there is none.
        public var example: [UInt8]?

        /// Creates the description of a feedback's requests from its parts.
        public init(feedback: String, placement: String, shape: TypeShape?, example: [UInt8]? = nil) {
            self.feedback = feedback
            self.placement = placement
            self.shape = shape
            self.example = example
        }
    }

    /// The name of the loop.
    public var loop: String
    /// The version of its state and events as they are encoded.
    public var schema: UInt64
    /// The type of events.
    public var event: TypeShape
    /// The definition's examples of events, encoded, in its order.
    public var eventExamples: [[UInt8]]
    /// The type of the state.
    public var state: TypeShape
    /// The encoded initial state.
    public var initialState: [UInt8]
    /// The requests of each feedback that has any, in the definition's order.
    public var requests: [Request]

    /// Creates the description of a loop from its parts.
    public init(
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
