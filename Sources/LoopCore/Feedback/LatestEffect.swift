internal import LoopLock

/// Sends every event of a sequence, until it ends or the loop does.
func sendAll<Events: AsyncSequence>(of events: Events, _ send: Send<Events.Element>) async {
    var iterator = events.makeAsyncIterator()
    while let event = try? await iterator.next() {
        do { try await send(event) } catch { return }
    }
}

/// Runs an effect for each request, one at a time: the next one cancels the one before it. One that fails reports that,
/// unless it has been cancelled.
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
    // The requests have ended, the effect has not; the feedback's end ends both.
    if let current {
        await withTaskCancellationHandler {
            await current.task.value
        } onCancel: {
            current.cancel()
        }
    }
}

/// An effect that a newer one may take the place of.
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
        // In no group, so that the next effect need not wait for the end of this one, which it cancels. So the task does not
        // inherit where it runs.
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
