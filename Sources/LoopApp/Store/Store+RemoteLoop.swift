internal import LoopCluster
public import LoopCore
internal import LoopCollections
public import LoopNode
public import LoopView

extension Store {
    /// The store of a loop that runs elsewhere. It keeps the handle. When the store is released, events that were sent are handed
    /// over before the handle is released.
    ///
    /// An event that the reducer refuses after it was accepted does not appear in the store's `problem`. To see such refusals, use
    /// `RemoteLoop.sendAndConfirm`.
    /// - Parameters:
    ///   - loop: the loop to follow.
    ///   - placeholder: shown until the first state arrives; the definition's initial state is enough.
    public convenience init<Definition: LoopDefinition>(
        _ loop: RemoteLoop<Definition>, showing placeholder: State
    ) where Definition.State == State, Definition.Event == Event {
        self.init(remote: loop.source, showing: placeholder)
    }
}

extension RemoteLoop {
    /// The source through which a store follows this loop.
    var source: RemoteSource<Definition.State, Definition.Event> {
        typealias Update = RemoteSource<Definition.State, Definition.Event>.Update
        let (updates, continuation) = AsyncStream<Update>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let latest = Locked((update: Update(state: nil, connection: .connecting), shown: Seq?.none))
        let lookAway = look { news in
            latest.withLock { latest in
                switch news {
                case .state(let id, let state, _):
                    (latest.update.state, latest.shown) = (state, id.seq)
                    // A state that has just arrived is current until the reducer says otherwise.
                    latest.update.connection = .live(id.seq)
                case .standing(let standing):
                    latest.update.connection = StoreConnection(standing, shown: latest.shown)
                case .ended(_, let text): latest.update.connection = .ended(text: text)
                }
            }
            continuation.yield(latest.withLock { $0.update })
            if case .ended = news { continuation.finish() }
        }
        continuation.onTermination = { _ in lookAway() }
        return RemoteSource(updates: updates, send: { event throws(SendRefusal) in try await self.send(event) })
    }
}

extension StoreConnection {
    /// - Parameter shown: the seq of the newest state that was read, or nil if there is none. After a state that cannot be read,
    ///   the store still shows the placeholder.
    init(_ standing: ObserverStanding, shown: Seq?) {
        guard let shown else {
            self = .connecting
            return
        }
        let seq = standing.state?.seq ?? shown
        self = standing.isCurrent ? .live(seq) : .behind(seq)
    }
}
