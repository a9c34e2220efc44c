public import LoopCore
public import LoopWire

/// Reads of one state. What each promises is in its name: of a follower, of a follower that has come to a seq, or through the
/// reducer.
extension RemoteLoop {
    /// What this follower knows now, with its age: does not wait, and may be behind. Nil before the first state has come.
    public var knownState: KnownState<Definition.State>? { known.newest }

    /// The first state of this follower at a seq or after it: with the seq of an event of one's own, one reads what one has
    /// written.
    ///
    ///     let seq = try await loop.sendAndConfirm(.carArrived)
    ///     let (_, state) = try await loop.state(atLeast: seq)
    ///
    /// Waits until the follower has come that far: as long as the next update takes.
    /// - Throws: why the connection has ended before; `CancellationError` if the task was cancelled.
    public func state(atLeast seq: Seq) async throws -> (seq: Seq, state: Definition.State) {
        for await known in states where known.seq >= seq { return known }
        try Task.checkCancellation()
        throw connection.failure ?? NodeError.system("the loop has ended before this follower came to seq \(seq)")
    }

    /// A state that has every event whose outcome anyone was told before the call (linearizable): asks the reducer for its
    /// newest seq, and waits until this follower has come there.
    ///
    /// The reducer answers once everything up to that seq is durable. It costs a connection and a round trip; for the
    /// consequence of an event of one's own, `ask` is shorter.
    /// - Parameter limit: how long the reducer's answer may take.
    /// - Throws: ``NodeError/noAnswer(_:after:because:)`` if none comes; why the connection has ended;
    ///   `CancellationError` if the task was cancelled.
    public func currentState(
        within limit: Duration = .seconds(10)
    ) async throws -> (seq: Seq, state: Definition.State) {
        try await self.state(atLeast: Seq(status(within: limit).seq))
    }

    /// How far the effects have come that run now and have said so, the first hundred: asks the reducer.
    /// - Parameter limit: how long the answer may take.
    /// - Throws: ``NodeError/noAnswer(_:after:because:)`` if none comes.
    public func effectReports(within limit: Duration = .seconds(10)) async throws -> [StatusReport.EffectReport] {
        try await status(within: limit).effectReports ?? []
    }

    private func status(within limit: Duration) async throws -> StatusReport {
        let (reducer, context) = (reducer, context)
        return try await NodeThread.run("loop-read") {
            // Of a standby no one may read.
            try StatusProbe.leader(of: reducer, within: limit, context: context).report
        }
    }
}
