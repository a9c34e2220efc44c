internal import LoopCore
internal import LoopCollections

/// The outgoing events of a remote store, in the order of sending.
///
/// Accepted events are sent even if the store is released. At most `eventsMax` may wait.
final class OutboundEvents<Event: Sendable>: Sendable {
    /// A person does not type that fast. If more events wait, the loop is out of reach.
    private static var eventsMax: Int { 1024 }

    let problem = Locked<StoreProblem?>(nil)
    /// Called after `problem` was set.
    let changed = Locked<(@Sendable () -> Void)?>(nil)
    private let events: AsyncStream<Event>.Continuation

    init(send: @escaping @Sendable (Event) async throws(SendRefusal) -> Void) {
        let (stream, events) = AsyncStream<Event>.makeStream(bufferingPolicy: .bufferingOldest(Self.eventsMax))
        self.events = events
        // A detached task, because it must end with the stream and not with this object.
        Task.detached { [weak self] in
            for await event in stream {
                do throws(SendRefusal) {
                    try await send(event)
                } catch {
                    self?.report(.refused(error))
                }
            }
        }
    }

    deinit { events.finish() }

    func add(_ event: Event) {
        if case .dropped = events.yield(event) {
            report(.refused(SendRefusal(.overloaded, detail: "\(Self.eventsMax) events wait; is the reducer there?")))
        }
    }

    func report(_ new: StoreProblem) {
        problem.withLock { $0 = new }
        changed.withLock { $0 }?()
    }
}
