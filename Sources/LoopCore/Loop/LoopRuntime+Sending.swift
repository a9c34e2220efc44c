internal import LoopLock

// Sending by effects, custom feedbacks and inputs.

extension LoopRuntime {
    /// While more events than this are queued, a sending effect waits until its event was applied.
    private static var queuedEventsMax: Int { 1024 }

    func send(as sender: Shared.Sender) -> Send<Event> {
        Send { [weak self] event, confirmed throws(SendRefusal) in
            guard let self else { throw SendRefusal(.ended) }
            return try await self.submit(event, confirmed: confirmed, sender: sender)
        }
    }

    private func submit(
        _ event: Event, confirmed: Bool, sender: Shared.Sender
    ) async throws(SendRefusal) -> Seq {
        var entry = Shared.Entry(input: .event(event))
        if case .effect(let id, _) = sender { entry.source = id }
        if !confirmed {
            let isFull = shared.withLock { $0.queuedCount >= Self.queuedEventsMax }
            if !isFull {
                if let refusal = accept(entry, sender) { throw refusal }
                return .initial
            }
        }
        return try await confirm(entry, sender, wantsAnswer: false).seq
    }

    /// Queues an event, and waits for the answer to it.
    func ask(_ event: Event) async throws(SendRefusal) -> LoopAnswer {
        try await confirm(Shared.Entry(input: .event(event)), nil, wantsAnswer: true)
    }

    /// Queues an entry, and waits until it was applied.
    private func confirm(
        _ entry: Shared.Entry, _ sender: Shared.Sender?, wantsAnswer: Bool
    ) async throws(SendRefusal) -> LoopAnswer {
        let result = await withCheckedContinuation { continuation in
            var entry = entry
            entry.waiter = LoopWaiter(wantsAnswer: wantsAnswer, continuation: continuation)
            if let refusal = accept(entry, sender) { continuation.resume(returning: .failure(refusal)) }
        }
        return try result.get()
    }

    /// Queues an event without waiting. Void once its sender has gone.
    func post(_ event: Event, as sender: Shared.Sender) { _ = accept(Shared.Entry(input: .event(event)), sender) }

    /// Queues an entry and drains, or returns why the entry is refused.
    private func accept(_ entry: Shared.Entry, _ sender: Shared.Sender?) -> SendRefusal? {
        let (refusal, step) = shared.withLock { shared -> (SendRefusal?, Shared.Step?) in
            if let refusal = shared.refusal(of: sender) ?? shared.enqueue(entry) { return (refusal, nil) }
            return (nil, shared.firstStep())
        }
        takeSteps(step)
        return refusal
    }
}

/// A caller that waits until its event was applied. It is an object because the size of a continuation is known only at run
/// time: without it, each entry of the queue would be copied by means of its type's description.
@usableFromInline
package final class LoopWaiter: Sendable {
    /// Whether it also waits for the definition's answer.
    let wantsAnswer: Bool
    let continuation: CheckedContinuation<Result<LoopAnswer, SendRefusal>, Never>

    init(wantsAnswer: Bool, continuation: CheckedContinuation<Result<LoopAnswer, SendRefusal>, Never>) {
        self.wantsAnswer = wantsAnswer
        self.continuation = continuation
    }

    func refuse(_ refusal: SendRefusal) { continuation.resume(returning: .failure(refusal)) }
}
