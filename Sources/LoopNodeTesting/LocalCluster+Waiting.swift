public import LoopCore
import LoopLock
import LoopNode
public import LoopWire

extension LocalCluster {
    // MARK: Events

    /// Hands an event over by the cluster's own handle. See ``/LoopNode/RemoteLoop/send(_:)``.
    /// - Throws: why it was not accepted.
    public nonisolated(nonsending) func send(_ event: Definition.Event) async throws(SendRefusal) {
        try await own.send(event)
    }

    /// Hands an event over, and waits until it was applied.
    /// - Returns: the ID of the resulting state, with the seq at which the event was applied.
    /// - Throws: why it was not applied, or that this is not known.
    @discardableResult
    public func sendAndConfirm(_ event: Definition.Event) async throws(SendRefusal) -> StateID {
        let id = try await own.sendAndConfirm(event)
        confirmed.withLock { if id.relation(to: $0) != .before { $0 = id } }
        return id
    }

    // MARK: States

    /// Waits until an observer shows a state that fulfils a condition.
    ///
    /// An observer may skip states while others arrive. So use a condition that stays fulfilled; for each single state there is
    /// ``follower(_:)``. States before the last event that ``sendAndConfirm(_:)`` has confirmed do not count.
    /// - Parameters:
    ///   - what: the condition in words, for the failure.
    ///   - id: a state that another handle has made. States before it do not count.
    ///   - isReached: whether a state fulfils the condition.
    /// - Returns: the state and its seq.
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

    // MARK: The reducer's answers

    /// The reducer's report about itself. Waits for a reducer that does not run yet.
    /// - Throws: `NodeError.noAnswer` after the cluster's `waitLimit`.
    public nonisolated(nonsending) func status() async throws -> StatusReport { try await status(within: waitLimit) }

    nonisolated(nonsending) func status(within limit: Duration) async throws -> StatusReport {
        let (address, context) = (address, context)
        // A thread of its own, because the nodes under test need the threads of the pool.
        return try await NodeThread.run("loop-status") {
            try StatusProbe.ask(address, within: limit, context: context)
        }
    }

    /// Asks for the status until it fulfils a condition.
    /// - Parameters:
    ///   - what: the condition in words, for the failure.
    ///   - isReached: whether a report fulfils the condition.
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
                // The pause has no meaning for the test. It only leaves the processor to the nodes.
                try await Task.sleep(for: .milliseconds(2))
            }
        }
    }

    /// Asks a question as an operator does with `loopctl`: for the history, an earlier state, parked effects or a verification.
    ///
    ///     let page = try await cluster.ask(.history(from: 1, through: nil, after: nil))
    /// - Throws: the reducer's refusal, or that there was no answer.
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
