internal import LoopCollections

/// The states of a loop: the current one first, then every later one, once and in order, until the loop ends.
///
/// The subscription begins when the value is made, so no state is missed between then and the first iteration. That iteration takes
/// it over. Each later iteration of the same value makes a new subscription and begins with the state that is then current.
///
/// Nothing is dropped for a slow reader: unread states wait in memory. A value that is kept and never iterated is such a
/// reader, and ends its subscription only when it is released. The sequence does not keep the loop alive.
public struct States<State: Sendable>: AsyncSequence, Sendable {
    /// Each element is one state of the loop.
    public typealias Element = State
    /// The sequence ends without an error.
    public typealias Failure = Never

    package typealias Subscribe =
        @Sendable (AsyncStream<State>.Continuation.BufferingPolicy) -> AsyncStream<State>

    private let subscribe: Subscribe
    private let buffering: AsyncStream<State>.Continuation.BufferingPolicy
    /// The subscription that the first iteration takes over.
    private let first: Locked<AsyncStream<State>?>

    package init(
        buffering: AsyncStream<State>.Continuation.BufferingPolicy = .unbounded, subscribe: @escaping Subscribe
    ) {
        self.subscribe = subscribe
        self.buffering = buffering
        first = Locked(subscribe(buffering))
    }

    /// Begins an iteration. The first one takes over the subscription that began with this value. Each later one begins
    /// with the state that is then current.
    public func makeAsyncIterator() -> AsyncStream<State>.Iterator {
        let taken = first.withLock { $0.take() }
        return (taken ?? subscribe(buffering)).makeAsyncIterator()
    }

    /// The states from now on for a reader that needs only the latest: of unread states, only the newest waits.
    public var latest: States { States(buffering: .bufferingNewest(1), subscribe: subscribe) }
}

extension States where State: Equatable {
    /// The states from now on without those that equal the previous one.
    public func removingDuplicates() -> States {
        States(buffering: buffering, subscribe: Self.subscription(subscribe, removingDuplicatesBy: ==))
    }
}

// Subscriptions that are derived from others, for scopes and stores.

extension States {
    /// The states of a part, which end when the part goes.
    package static func subscription<Whole: Sendable>(
        _ whole: @escaping States<Whole>.Subscribe, _ part: @escaping @Sendable (Whole) -> State?
    ) -> Subscribe {
        { buffering in
            let projection = Projection(whole(buffering.translated()).makeAsyncIterator(), part)
            return AsyncStream(unfolding: { await projection.next() })
        }
    }

    /// The states without those that equal the previous one.
    package static func subscription(
        _ all: @escaping Subscribe, removingDuplicatesBy areEqual: @escaping @Sendable (State, State) -> Bool
    ) -> Subscribe {
        { buffering in
            let distinct = Distinct(all(buffering).makeAsyncIterator(), areEqual)
            return AsyncStream(unfolding: { await distinct.next() })
        }
    }
}

extension AsyncStream.Continuation.BufferingPolicy {
    fileprivate func translated<Other>() -> AsyncStream<Other>.Continuation.BufferingPolicy {
        switch self {
        case .bufferingNewest(let count): .bufferingNewest(count)
        case .bufferingOldest(let count): .bufferingOldest(count)
        default: .unbounded
        }
    }
}

/// Not thread-safe, because an `AsyncStream` has one reader at a time.
private final class Projection<Whole: Sendable, State: Sendable>: @unchecked Sendable {
    private var states: AsyncStream<Whole>.Iterator?
    private let part: @Sendable (Whole) -> State?

    init(_ states: AsyncStream<Whole>.Iterator, _ part: @escaping @Sendable (Whole) -> State?) {
        self.states = states
        self.part = part
    }

    func next() async -> State? {
        guard let whole = await states?.next(), let state = part(whole) else {
            states = nil
            return nil
        }
        return state
    }
}

/// Not thread-safe, because an `AsyncStream` has one reader at a time.
private final class Distinct<State: Sendable>: @unchecked Sendable {
    private var states: AsyncStream<State>.Iterator
    private let areEqual: @Sendable (State, State) -> Bool
    private var last: State?

    init(_ states: AsyncStream<State>.Iterator, _ areEqual: @escaping @Sendable (State, State) -> Bool) {
        self.states = states
        self.areEqual = areEqual
    }

    func next() async -> State? {
        while let state = await states.next() {
            if let last, areEqual(last, state) { continue }
            last = state
            return state
        }
        return nil
    }
}
