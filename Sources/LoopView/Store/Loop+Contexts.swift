public import LoopCore

extension Loop {
    /// The current state as a context, then a context for every later state. It does not keep the loop alive.
    public var contexts: Contexts<State, Event> { Contexts(states: states, sender: sender) }

    /// The current state as a context.
    public var context: Context<State, Event> { Context(state: state, sender: sender) }

    var sender: Sender<State, Event> {
        let link = link
        return Sender(read: link.state, send: link.send, mutate: link.mutate)
    }
}

/// The states of a loop, each with the way to send events.
public struct Contexts<State: Sendable, Event: Sendable>: AsyncSequence, Sendable {
    /// Each element is one state of the loop, with the way to send events.
    public typealias Element = Context<State, Event>
    /// The sequence ends without an error.
    public typealias Failure = Never

    let states: States<State>
    let sender: Sender<State, Event>

    /// Begins an iteration over the loop's `states`.
    public func makeAsyncIterator() -> Iterator { Iterator(states: states.makeAsyncIterator(), sender: sender) }

    /// These contexts for a reader that needs only the latest. Of those that it has not taken, only the newest is kept.
    public var latest: Contexts { Contexts(states: states.latest, sender: sender) }

    /// Iterates over contexts.
    public struct Iterator: AsyncIteratorProtocol {
        var states: AsyncStream<State>.Iterator
        let sender: Sender<State, Event>

        /// Waits for the next context.
        /// - Returns: nil once the loop has ended, or the task is cancelled.
        public mutating func next() async -> Context<State, Event>? {
            await states.next().map { Context(state: $0, sender: sender) }
        }
    }
}
