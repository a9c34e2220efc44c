internal import LoopLock

/// A loop seen through a projection, without a queue of its own: what is asked or sent goes to the loop below, which is
/// kept alive.
final class LoopScope<State: Sendable, Event: Sendable>: Sendable {
    typealias Buffering = AsyncStream<State>.Continuation.BufferingPolicy

    let state: @Sendable () -> State
    let seq: @Sendable () -> Seq
    let outcome: @Sendable () -> Outcome?
    let parked: @Sendable () -> [ParkedEffect]
    let phases: @Sendable () -> [EffectID: EffectPhase]
    let retryParked: @Sendable (EffectID) -> Bool
    let subscribe: @Sendable (Buffering) -> AsyncStream<State>
    let send: @Sendable (Event) -> Void
    let mutate: @Sendable (@escaping @Sendable (inout State) -> Void) -> Void
    let stop: @Sendable () -> Void

    /// - Parameters:
    ///   - project: the part; nil: it has gone. A scope of a part that has gone shows its last value.
    ///   - embed: nil: nothing can be sent.
    ///   - write: changes the part inside of the whole; nil where it can only be read.
    ///   - last: the part as it is now.
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
        retryParked = { base.retryParked($0) }
        // The states do not keep the loop alive, as those of the loop itself do not.
        let states = base.states
        subscribe = { buffering in
            Projection(states.subscribe(Self.translate(buffering)).makeAsyncIterator(), project).stream
        }
        send = { event in
            guard let embed, project(base.state) != nil else { return }
            base.send(embed(event))
        }
        mutate = { change in
            guard let write else {
                preconditionFailure("this scope can only be read; scope it by a writable key path to mutate it")
            }
            base.mutate { whole in write(&whole) { change(&$0) } }
        }
        stop = { base.stop() }
    }

    private static func translate<Whole>(
        _ buffering: Buffering
    ) -> AsyncStream<Whole>.Continuation.BufferingPolicy {
        switch buffering {
        case .bufferingNewest(let count): .bufferingNewest(count)
        case .bufferingOldest(let count): .bufferingOldest(count)
        default: .unbounded
        }
    }
}

/// The states of a part, made of those of the whole as they are taken; they end when the part goes.
private final class Projection<Whole: Sendable, State: Sendable>: @unchecked Sendable {
    /// One reader at a time, which is what an `AsyncStream` allows.
    private var states: AsyncStream<Whole>.Iterator?
    private let project: @Sendable (Whole) -> State?

    init(_ states: AsyncStream<Whole>.Iterator, _ project: @escaping @Sendable (Whole) -> State?) {
        self.states = states
        self.project = project
    }

    var stream: AsyncStream<State> { AsyncStream(unfolding: { await self.next() }) }

    private func next() async -> State? {
        guard let whole = await states?.next(), let part = project(whole) else {
            states = nil
            return nil
        }
        return part
    }
}
