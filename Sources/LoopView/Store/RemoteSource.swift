public import LoopCore

/// A loop that runs elsewhere, as a store needs it.
public struct RemoteSource<State: Sendable, Event: Sendable>: Sendable {
    /// What is known of the loop.
    public struct Update: Sendable {
        /// The newest state that has come; nil before the first.
        public var state: State?
        public var connection: StoreConnection

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

    public init(
        updates: AsyncStream<Update>, send: @escaping @Sendable (Event) async throws(SendRefusal) -> Void,
        fields: FieldEvents<State, Event> = .none
    ) {
        self.updates = updates
        self.send = send
        self.fields = fields
    }
}
