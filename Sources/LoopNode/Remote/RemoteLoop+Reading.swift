public import LoopCore
public import LoopWire

/// Reads of one state. Each name says what the read promises: the state of this follower, of this follower once it has reached
/// a state, or of the reducer.
extension RemoteLoop {
    /// What this follower knows now, with its age, or nil before the first state has come. Does not wait, and may be
    /// behind the reducer.
    public var knownState: KnownState<Definition.State>? { known.newest }

    /// The first state of this follower that is the named one or a later one. With the ID that ``sendAndConfirm(_:)`` returns,
    /// a program reads its own writes.
    ///
    ///     let id = try await loop.sendAndConfirm(.carArrived)
    ///     let (_, state) = try await loop.state(atLeast: id)
    ///
    /// Waits until the follower has received that state, which takes as long as the next update. A follower that is in another
    /// history waits ten seconds for the named one to begin.
    /// - Throws: `NodeError` if the loop has begun another history since, so that the event may be undone; if the follower has
    ///   never been in the named history; or if the connection ended before. `CancellationError` if the task was cancelled.
    public func state(atLeast id: StateID) async throws -> (seq: Seq, state: Definition.State) {
        let patience = SystemClock.monotonic + .seconds(10)
        var deadline: MonotonicTime? = patience
        while true {
            for await _ in known.changes(keeping: connection, until: deadline) {
                switch known.answer(about: id) {
                case .reached(let reached, let state): return (reached.seq, state)
                case .lost: throw lost(id)
                case .elsewhere where SystemClock.monotonic >= patience: throw lost(id)
                case .elsewhere, .pending: continue
                }
            }
            try Task.checkCancellation()
            guard connection.failure == nil, deadline.map({ SystemClock.monotonic >= $0 }) ?? false else {
                throw connection.failure ?? NodeError.system("the loop has ended before this follower came to \(id)")
            }
            deadline = nil
        }
    }

    /// Streams states as ``states`` does, from the first one that is past all of these.
    package func states(past bounds: [StateID]) -> AsyncStream<(seq: Seq, state: Definition.State)> {
        known.stream(.bufferingNewest(1), keeping: connection) { [known] id, state in
            bounds.allSatisfy { known.isPast($0, at: id) } ? (id.seq, state) : nil
        }
    }

    private func lost(_ id: StateID) -> NodeError {
        let place = known.place
        return .system(
            "\(id) is lost: the journal goes on as epoch \(place.epoch) of history \(place.history) without it; read the state,"
                + " and send again what it lacks")
    }

    /// A state that contains every event whose outcome was known to any sender before the call (linearizable). Asks the reducer
    /// for its newest state, and waits until this follower has received it.
    ///
    /// The reducer answers once everything up to that state is durable. The read costs a connection and a round trip; to learn
    /// the consequence of your own event, `ask` is shorter.
    /// - Parameter limit: how long the answer may take, together with the wait for this follower.
    /// - Throws: ``NodeError/noAnswer(_:after:because:)`` if the time is over, or the error that ended the connection.
    ///   `CancellationError` if the task was cancelled.
    public func currentState(
        within limit: Duration = .seconds(10)
    ) async throws -> (seq: Seq, state: Definition.State) {
        let deadline = SystemClock.monotonic + limit
        while true {
            let place = known.place
            let wanted = try await leader(within: max(.zero, deadline - SystemClock.monotonic)).state
            // A follower that has moved to another epoch may never reach the wanted state, so the reducer is asked again.
            for await _ in known.changes(keeping: connection, until: deadline) {
                if case .reached(let reached, let state) = known.answer(about: wanted) { return (reached.seq, state) }
                guard known.place == place || known.place.isOfTheEpoch(of: wanted) else { break }
            }
            try Task.checkCancellation()
            if let failure = connection.failure { throw failure }
            guard SystemClock.monotonic < deadline else {
                let own = known.newest.map { "\($0.id)" } ?? "no state"
                throw NodeError.noAnswer(
                    reducer, after: limit, because: "the reducer is at \(wanted), and this follower at \(own)")
            }
        }
    }

    /// Asks the reducer for the progress of the running effects that report it, of a hundred at most.
    /// - Parameter limit: how long the answer may take.
    /// - Throws: ``NodeError/noAnswer(_:after:because:)`` if none comes.
    public func effectReports(within limit: Duration = .seconds(10)) async throws -> [StatusReport.EffectReport] {
        try await leader(within: limit).report.effectReports ?? []
    }

    private func leader(within limit: Duration) async throws -> StatusProbe.Member {
        let (reducer, context) = (reducer, context)
        return try await NodeThread.run("loop-read") {
            // A standby's state may be old, and a reducer without its journal has none.
            try StatusProbe.readable(of: reducer, within: limit, context: context)
        }
    }
}
