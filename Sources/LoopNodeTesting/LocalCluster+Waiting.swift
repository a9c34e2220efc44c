public import LoopCore
import LoopLock
import LoopNode
public import LoopWire

extension LocalCluster {
    // MARK: Events

    /// Hands an event over, by the cluster's own handle. See ``/LoopNode/RemoteLoop/send(_:)``.
    /// - Throws: why it was not accepted.
    public nonisolated(nonsending) func send(_ event: Definition.Event) async throws(SendRefusal) {
        try await own.send(event)
    }

    /// Hands an event over, and waits until it was applied.
    /// - Returns: the ID of the state after the event, with the seq at which it was applied.
    /// - Throws: why it was not applied, or that this is not known.
    @discardableResult
    public func sendAndConfirm(_ event: Definition.Event) async throws(SendRefusal) -> StateID {
        let id = try await own.sendAndConfirm(event)
        confirmed.withLock { if id.relation(to: $0) != .before { $0 = id } }
        return id
    }

    // MARK: States

    /// Waits until an observer shows a state as it is wanted.
    ///
    /// An observer may skip states while others come. What is wanted should stay so; for each single state there is
    /// ``follower(_:)``. States from before the last event that ``sendAndConfirm(_:)`` has confirmed do not count.
    /// - Parameters:
    ///   - what: what is waited for, for the failure.
    ///   - id: the state after an event of another handle. Earlier states do not count.
    ///   - isReached: whether a state is as wanted.
    /// - Returns: the state, and its seq.
    /// - Throws: ``LocalClusterError``, with the last state.
    @discardableResult
    public nonisolated(nonsending) func until(
        _ what: String = "the state is as it is waited for", atLeast id: StateID = .none,
        _ isReached: @escaping @Sendable (Definition.State) -> Bool
    ) async throws -> (seq: Seq, state: Definition.State) {
        let bounds = [id, confirmed.withLock { $0 }].filter { $0 != .none }
        let states = own.states(past: bounds)
        let last = Locked<String?>(nil)
        let shown: @Sendable () -> String = { last.withLock { $0 } ?? "no state" }
        return try await within(waitLimit, what, last: shown) {
            for await (seq, state) in states {
                if isReached(state) { return (seq, state) }
                last.withLock { $0 = "seq \(seq): \(String("\(state)".prefix(1000)))" }
            }
            try Task.checkCancellation()
            throw LocalClusterError.loopEnded(waitingFor: what, last: shown())
        }
    }

    // MARK: The reducer's word

    /// The reducer's report about itself; waits for a reducer that does not run yet.
    /// - Throws: `NodeError.noAnswer` after the cluster's `waitLimit`.
    public nonisolated(nonsending) func status() async throws -> StatusReport { try await status(within: waitLimit) }

    nonisolated(nonsending) func status(within limit: Duration) async throws -> StatusReport {
        let (address, context) = (address, context)
        // On a thread of its own: the threads of the pool are needed by what is asked about.
        return try await NodeThread.run("loop-status") {
            try StatusProbe.ask(address, within: limit, context: context)
        }
    }

    /// Asks for the status until it is as it is wanted.
    /// - Parameters:
    ///   - what: what is waited for, for the failure.
    ///   - isReached: whether a report is as wanted.
    /// - Returns: the report.
    /// - Throws: ``LocalClusterError``, with the last report.
    @discardableResult
    public nonisolated(nonsending) func untilStatus(
        _ what: String = "the status is as it is waited for", _ isReached: @escaping @Sendable (StatusReport) -> Bool
    ) async throws -> StatusReport {
        let last = Locked<String?>(nil)
        return try await within(waitLimit, what, last: { last.withLock { $0 } ?? "no status" }) {
            while true {
                let report = try await self.status()
                if isReached(report) { return report }
                last.withLock { $0 = String("\(report)".prefix(2000)) }
                // Nothing is concluded from the time: it leaves the processor to those who are asked about.
                try await Task.sleep(for: .milliseconds(2))
            }
        }
    }

    /// Asks what an operator asks with `loopctl`: the history, an earlier state, parked effects, a verification.
    ///
    ///     let page = try await cluster.ask(.history(from: 1, through: nil, after: nil))
    /// - Throws: what the reducer refuses; that there was no answer.
    public nonisolated(nonsending) func ask<Answer: Sendable>(
        _ question: AdministrationQuestion<Answer>
    ) async throws -> Answer {
        let (address, context, limit) = (address, context, waitLimit)
        return try await NodeThread.run("loop-question") {
            var call = try AdministrationCall(reducer: address, context: context)
            return try call.ask(question, within: limit)
        }
    }

    // MARK: Limits

    /// Runs the body until it returns, its time is up, or a node fails.
    nonisolated(nonsending) func within<Value: Sendable>(
        _ limit: Duration, _ what: String, last: @escaping @Sendable () -> String,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let failure = failure
        return try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask(operation: body)
            group.addTask {
                // The limit of the wait itself.
                try await Task.sleep(for: limit)
                throw LocalClusterError.tooLate(waitingFor: what, limit: limit, last: last())
            }
            group.addTask {
                guard let error = await failure.wait() else { throw CancellationError() }
                throw LocalClusterError.nodeFailed("\(error)")
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }
}
