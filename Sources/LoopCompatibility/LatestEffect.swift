internal import LoopCore
internal import LoopCollections

/// Sends every event of a sequence, until the sequence or the loop ends.
func sendAll<Events: AsyncSequence>(of events: Events, _ send: Send<Events.Element>) async {
    var iterator = events.makeAsyncIterator()
    while let event = try? await iterator.next() {
        do { try await send(event) } catch { return }
    }
}

/// Runs an effect for each request, one at a time: the next one cancels the previous one. A failed effect is reported,
/// unless it was cancelled.
func runLatest<Requests: AsyncSequence, Event: Sendable>(
    of requests: Requests, _ port: CustomPort<Event>, _ report: @escaping FailureReport,
    _ effect: (Requests.Element) -> Effect<Event>
) async where Requests.Element: Sendable {
    var current: LatestEffect?
    var iterator = requests.makeAsyncIterator()
    while let request = try? await iterator.next() {
        current?.cancel()
        current = LatestEffect(effect(request), port) { await report(request, $0) }
    }
    // The requests have ended, but the effect has not. The feedback's end ends both.
    if let current {
        await withTaskCancellationHandler {
            await current.task.value
        } onCancel: {
            current.cancel()
        }
    }
}

/// An effect that a newer one may replace.
private struct LatestEffect: Sendable {
    let task: Task<Void, Never>
    private let isLive: Locked<Bool>

    init<Event: Sendable>(
        _ effect: Effect<Event>, _ port: CustomPort<Event>, failed: @escaping @Sendable (any Error) async -> Void
    ) {
        let isLive = Locked(true)
        self.isLive = isLive
        let send = port.send
        let gated = Send<Event> { event, confirmed throws(SendRefusal) in
            if !isLive.withLock({ $0 }) { throw SendRefusal(.stale) }
            if confirmed { return try await send.sendAndConfirm(event) }
            try await send(event)
            return .initial
        }
        // A task outside of any group, because the next effect must not wait for the end of this one. It inherits no
        // executor, so the loop's is passed.
        task = Task(executorPreference: port.executor) {
            do {
                try await effect.work(gated)
            } catch {
                if isLive.withLock({ $0 }), !Task.isCancelled { await failed(error) }
            }
        }
    }

    func cancel() {
        isLive.withLock { $0 = false }
        task.cancel()
    }
}
