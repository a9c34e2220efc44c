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
