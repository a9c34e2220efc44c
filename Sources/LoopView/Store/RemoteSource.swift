public import LoopCore

/// The access that a store needs to a loop that runs elsewhere.
public struct RemoteSource<State: Sendable, Event: Sendable>: Sendable {
    /// What is known of the loop.
    public struct Update: Sendable {
        /// The newest state that has come; nil before the first.
        public var state: State?
        /// How up to date it is.
        public var connection: StoreConnection

        /// Creates an update from its parts.
        public init(state: State?, connection: StoreConnection) {
            self.state = state
            self.connection = connection
        }
    }

    /// What is known, whenever that changes; ends with the loop. The newest suffices: the stream may drop older ones.
    public var updates: AsyncStream<Update>
    /// Hands one event over.
    public var send: @Sendable (Event) async throws(SendRefusal) -> Void
    /// The fields that can be changed.
    public var fields: FieldEvents<State, Event>

    /// Creates a source from its parts.
    /// - Parameters:
    /// - updates: see ``updates``.
    /// - send: hands one event over; it throws `SendRefusal` where the event is not accepted.
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
