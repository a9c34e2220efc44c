internal import LoopLock

/// A loop seen through a projection, without a queue of its own. Queries and events go to the underlying loop, which it
/// keeps alive.
final class LoopScope<State: Sendable, Event: Sendable>: Sendable {
    typealias Buffering = AsyncStream<State>.Continuation.BufferingPolicy

    let state: @Sendable () -> State
    let seq: @Sendable () -> Seq
    let outcome: @Sendable () -> Outcome?
    let parked: @Sendable () -> [ParkedEffect]
    let phases: @Sendable () -> [EffectID: EffectPhase]
    let effectProgress: @Sendable () -> [EffectID: EffectProgress]
    let retryParked: @Sendable (EffectID) -> Bool
    let subscribe: @Sendable (Buffering) -> AsyncStream<State>
    let send: @Sendable (Event) -> Void
    let ask: @Sendable (Event) async throws(SendRefusal) -> LoopAnswer
    let mutate: @Sendable (@escaping @Sendable (inout State) -> Void) -> Void
    let stop: @Sendable () -> Void
    /// A link that keeps the projection alive, but not the underlying loop.
    let link: LoopLink<State, Event>

    /// - Parameters:
    ///   - project: the part, or nil if it has gone. A scope of a part that has gone keeps its last value.
    ///   - embed: embeds the part's events, or nil if nothing can be sent.
    ///   - write: changes the part inside of the whole, or nil if it can only be read.
    ///   - last: the present value of the part.
    init<Whole, WholeEvent>(
        _ base: Loop<Whole, WholeEvent>, last: State, project: @escaping @Sendable (Whole) -> State?,
        embed: (@Sendable (Event) -> WholeEvent)?,
        write: (@Sendable (inout Whole, (inout State) -> Void) -> Void)?
    ) {
        let last = Locked(last)
        state = {
            guard let part = project(base.state) else { return last.withLock { $0 } }
            last.withLock { $0 = part }
            return part
        }
        seq = { base.seq }
        outcome = { base.outcome }
        parked = { base.parked }
        phases = { base.phases }
        effectProgress = { base.effectProgress }
        retryParked = { base.retryParked($0) }
        // The states do not keep the loop alive, like those of the loop itself.
        subscribe = States<State>.subscription(base.subscription, project)
        let link = base.link.scoped(project: project, embed: embed, write: write)
        self.link = link
        // The closures of the link do not keep the loop alive, but those of the scope do.
        send = { event in withExtendedLifetime(base) { link.send(event) } }
        ask = { event async throws(SendRefusal) in
            guard let embed, project(base.state) != nil else {
                throw SendRefusal(.ended, detail: "the part of the state that the loop is scoped to is gone")
            }
            return try await base.answer(to: embed(event))
        }
        mutate = { change in withExtendedLifetime(base) { link.mutate(change) } }
        stop = { base.stop() }
    }
}
