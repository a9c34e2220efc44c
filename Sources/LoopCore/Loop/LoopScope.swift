internal import LoopCollections

/// A loop seen through a projection, without a queue of its own. Queries and events go to the underlying loop, which it
/// keeps alive.
final class LoopScope<Whole: Sendable, WholeEvent: Sendable, State: Sendable, Event: Sendable>: LoopSource {
    private let base: Loop<Whole, WholeEvent>
    private let last: Locked<State>
    private let project: @Sendable (Whole) -> State?
    private let embed: (@Sendable (Event) -> WholeEvent)?
    /// A link that keeps the projection alive, but not the underlying loop.
    let link: LoopLink<State, Event>

    /// - Parameters:
    ///   - project: the part, or nil if it has gone. A scope of a part that has gone keeps its last value.
    ///   - embed: embeds the part's events, or nil if nothing can be sent.
    ///   - write: changes the part inside of the whole, or nil if it can only be read.
    ///   - last: the present value of the part.
    init(
        _ base: Loop<Whole, WholeEvent>, last: State, project: @escaping @Sendable (Whole) -> State?,
        embed: (@Sendable (Event) -> WholeEvent)?,
        write: (@Sendable (inout Whole, (inout State) -> Void) -> Void)?
    ) {
        self.base = base
        self.last = Locked(last)
        self.project = project
        self.embed = embed
        link = base.link.scoped(project: project, embed: embed, write: write)
    }

    var state: State {
        guard let part = project(base.state) else { return last.withLock { $0 } }
        last.withLock { $0 = part }
        return part
    }

    var seq: Seq { base.seq }
    var outcome: Outcome? { base.outcome }
    var parked: [ParkedEffect] { base.parked }
    var phases: [EffectID: EffectPhase] { base.phases }
    var effectProgress: [EffectID: EffectProgress] { base.effectProgress }
    /// The states do not keep the loop alive, like those of the loop itself.
    var subscription: States<State>.Subscribe { States<State>.subscription(base.subscription, project) }

    func ask(_ event: Event) async throws(SendRefusal) -> LoopAnswer {
        guard let embed, project(base.state) != nil else {
            throw SendRefusal(.ended, detail: "the part of the state that the loop is scoped to is gone")
        }
        return try await base.answer(to: embed(event))
    }

    func retryParked(_ id: EffectID) -> Bool { base.retryParked(id) }
    func stop() { base.stop() }
}
