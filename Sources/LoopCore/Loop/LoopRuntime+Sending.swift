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
                drain()
                return .initial
            }
        }
        let result = await withCheckedContinuation { [entry] continuation in
            var entry = entry
            entry.waiter = .outcome(continuation)
            if let refusal = accept(entry, sender) {
                continuation.resume(returning: .failure(refusal))
            } else {
                drain()
            }
        }
        return try result.get()
    }

    /// Queues an event, and waits for the answer to it.
    func ask(_ event: Event) async throws(SendRefusal) -> LoopAnswer {
        let result = await withCheckedContinuation { continuation in
            var entry = Shared.Entry(input: .event(event))
            entry.waiter = .answer(continuation)
            let refusal = locked { [entry] in $0.enqueue(entry) }
            if let refusal { continuation.resume(returning: .failure(refusal)) } else { drain() }
        }
        return try result.get()
    }

    /// Queues an event without waiting, and reduces it if the loop is or soon becomes idle. Void once its sender has gone.
    func post(_ event: Event, as sender: Shared.Sender) {
        let thread = CurrentThread.identity
        let isClaimed = gate.claimIdle(thread) || gate.claimIdleSoon(thread)
        let mayDrain = shared.withLock { shared in
            guard shared.refusal(of: sender) == nil else { return isClaimed }
            shared.queue.append(Shared.Entry(input: .event(event)))
            if isClaimed { gate.markPending() }
            return isClaimed || gate.claim(thread, isPending: true)
        }
        if mayDrain { takeSteps() }
    }

    private func accept(_ entry: Shared.Entry, _ sender: Shared.Sender) -> SendRefusal? {
        locked { $0.refusal(of: sender) ?? $0.enqueue(entry) }
    }
}
