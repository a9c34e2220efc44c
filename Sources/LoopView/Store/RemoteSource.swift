public import LoopCore

/// The access that a store needs to a loop that runs elsewhere.
public struct RemoteSource<State: Sendable, Event: Sendable>: Sendable {
    /// What is known about the loop.
    public struct Update: Sendable {
        /// The newest state that has arrived, or nil before the first.
        public var state: State?
        /// How up to date the state is.
        public var connection: StoreConnection

        /// Creates an update from its parts.
        public init(state: State?, connection: StoreConnection) {
            self.state = state
            self.connection = connection
        }
    }

    /// An update whenever something changes, until the loop ends. The newest suffices, so the stream may drop older ones.
    public var updates: AsyncStream<Update>
    /// Hands one event over.
    public var send: @Sendable (Event) async throws(SendRefusal) -> Void
    /// The fields that views can change.
    public var fields: FieldEvents<State, Event>

    /// Creates a source from its parts.
    /// - Parameters:
    /// - updates: see ``updates``.
    ///   - send: hands one event over; throws `SendRefusal` if the event is not accepted.
    /// - fields: the fields that views can change; none by default.
    public init(
        updates: AsyncStream<Update>, send: @escaping @Sendable (Event) async throws(SendRefusal) -> Void,
        fields: FieldEvents<State, Event> = .none
    ) {
        self.updates = updates
        self.send = send
        self.fields = fields
    }
}
