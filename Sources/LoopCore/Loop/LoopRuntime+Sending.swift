internal import LoopCollections

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
        if !confirmed {
            let isFull = shared.withLock { $0.queuedCount >= Self.queuedEventsMax }
            if !isFull {
                if let refusal = accept(event, sender) { throw refusal }
                return .initial
            }
        }
        return try await confirm(event, sender, wantsAnswer: false).seq
    }

    /// Queues an event, and waits for the answer to it.
    func ask(_ event: Event) async throws(SendRefusal) -> LoopAnswer {
        try await confirm(event, nil, wantsAnswer: true)
    }

    /// Queues an event, and waits until it was applied.
    private func confirm(
        _ event: Event, _ sender: Shared.Sender?, wantsAnswer: Bool
    ) async throws(SendRefusal) -> LoopAnswer {
        let result = await withCheckedContinuation { continuation in
            if let refusal = accept(event, sender, (continuation, wantsAnswer)) {
                continuation.resume(returning: .failure(refusal))
            }
        }
        return try result.get()
    }

    /// Queues an event without waiting. Void once its sender has gone.
    func post(_ event: Event, as sender: Shared.Sender) { _ = accept(event, sender) }

    /// Queues an event and drains, or returns why the event is refused.
    private func accept(
        _ event: Event, _ sender: Shared.Sender?, _ waiter: EventOrigin.Waiter? = nil
    ) -> SendRefusal? {
        let effect: EffectID? = if case .effect(let id, _) = sender { id } else { nil }
        let hasOrigin = effect != nil || waiter != nil
        let entry = Shared.Entry(.event(event), hasOrigin ? EventOrigin(effect: effect, waiter: waiter) : nil)
        let (refusal, mayDrain) = shared.withLock { shared -> (SendRefusal?, Bool) in
            if let refusal = shared.refusal(of: sender) ?? shared.enqueue(entry) { return (refusal, false) }
            return (nil, shared.claim())
        }
        if mayDrain { drain() }
        return refusal
    }
}

/// The effect that sent an event, and the caller that waits until the event was applied. It is an object because most events have
/// neither, and because the size of a continuation is known only at run time.
@usableFromInline
final class EventOrigin: Sendable {
    /// A caller that waits, and whether it also waits for the definition's answer.
    typealias Waiter = (
        continuation: CheckedContinuation<Result<LoopAnswer, SendRefusal>, Never>, wantsAnswer: Bool
    )

    let effect: EffectID?
    let waiter: Waiter?

    init(effect: EffectID?, waiter: Waiter? = nil) {
        self.effect = effect
        self.waiter = waiter
    }

    func refuse(_ refusal: SendRefusal) { waiter?.continuation.resume(returning: .failure(refusal)) }
}
