/// What a `Loop` reads and sends to: its runtime, or another loop through a projection.
protocol LoopSource<State, Event>: AnyObject, Sendable {
    associatedtype State: Sendable
    associatedtype Event: Sendable

    var state: State { get }
    var seq: Seq { get }
    var outcome: Outcome? { get }
    var parked: [ParkedEffect] { get }
    var phases: [EffectID: EffectPhase] { get }
    var effectProgress: [EffectID: EffectProgress] { get }
    /// Begins a subscription, which does not keep the loop alive.
    var subscription: States<State>.Subscribe { get }
    /// A link to the loop that does not keep it alive.
    var link: LoopLink<State, Event> { get }

    func ask(_ event: Event) async throws(SendRefusal) -> LoopAnswer
    func retryParked(_ id: EffectID) -> Bool
    func stop()
}

extension LoopRuntime: LoopSource {
    var subscription: States<State>.Subscribe {
        { [weak self] in self?.subscribe($0) ?? AsyncStream { $0.finish() } }
    }

    var link: LoopLink<State, Event> {
        LoopLink(
            state: { [weak self] in self?.state }, send: { [weak self] in self?.queue(.event($0)) },
            mutate: { [weak self] in self?.queue(.change($0)) })
    }
}

/// A link to a loop, or through its scopes to it, that does not keep it alive. After the loop's end, sending does nothing.
package struct LoopLink<State: Sendable, Event: Sendable>: Sendable {
    /// The state, or nil if the loop or the part has gone.
    package let state: @Sendable () -> State?
    package let send: @Sendable (Event) -> Void
    package let mutate: @Sendable (@escaping @Sendable (inout State) -> Void) -> Void

    /// The link to a part.
    /// - Parameters:
    ///   - embed: embeds the part's events, or nil if nothing can be sent.
    ///   - write: changes the part inside of the whole, or nil if it can only be read.
    func scoped<Part, PartEvent>(
        project: @escaping @Sendable (State) -> Part?, embed: (@Sendable (PartEvent) -> Event)?,
        write: (@Sendable (inout State, (inout Part) -> Void) -> Void)?
    ) -> LoopLink<Part, PartEvent> {
        LoopLink<Part, PartEvent>(
            state: { [state] in state().flatMap(project) },
            send: { [state, send] event in
                guard let embed, let whole = state(), project(whole) != nil else { return }
                send(embed(event))
            },
            mutate: { [mutate] change in
                guard let write else {
                    preconditionFailure("this scope can only be read; scope it by a writable key path to mutate it")
                }
                mutate { whole in write(&whole) { change(&$0) } }
            })
    }
}
