public import LoopCore
internal import LoopCollections
public import Observation

/// The state of a loop for views, wherever the loop runs.
///
/// Code that reads `state` within `withObservationTracking`, as renderers do, is notified of the next change. It is notified on the
/// thread on which the change happens. The state changes before the notification, so a later read returns that state or a newer
/// one.
///
/// ```swift
/// let store = Store(Loop(Movies()))                             // in this process
/// let store = Store(RemoteLoop(Movies.self), showing: .init())  // elsewhere
/// store.send(event: .retry)
/// ```
@Observable
public final class Store<State: Sendable, Event: Sendable>: Sendable {
    private let read: @Sendable () -> State
    let subscribe: States<State>.Subscribe
    private let readConnection: @Sendable () -> StoreConnection
    private let readProblem: @Sendable () -> StoreProblem?
    private let forget: @Sendable () -> Void
    let sender: Sender<State, Event>
    private let changes = ChangeCounter()
    /// Objects that must live as long as this store: its loop, its follower, or the store that it is a part of.
    private let owned: [any AnyObject & Sendable]

    // MARK: Over a loop

    /// The store of a loop in this process, which it keeps alive.
    public convenience init(_ loop: Loop<State, Event>) {
        let feed = StoreFeed(false)
        let hasEnded = feed.value
        self.init(
            read: { loop.state }, subscribe: loop.subscription,
            connection: { hasEnded.withLock { $0 } ? .ended(text: loop.outcome?.text ?? "") : .local },
            problem: { nil }, forget: {}, sender: loop.sender, owned: [loop, feed])
        let states = loop.states.latest
        feed.follow(by: self) { store in
            for await _ in states {
                guard store()?.tellState() != nil else { return }
            }
            hasEnded.withLock { $0 = true }
            store()?.tellConnection()
        }
    }

    /// Creates a loop that ends with the store.
    public convenience init(
        initial: State, reducer: @escaping @Sendable (inout State, Event) -> Void,
        feedbacks: [Feedback<State, Event>] = []
    ) {
        self.init(Loop(initial: initial, reducer: reducer, feedbacks: feedbacks))
    }

    /// Creates a loop that runs a whole definition in this process and ends with the store.
    public convenience init<Definition: LoopDefinition>(
        _ definition: Definition
    ) where Definition.State == State, Definition.Event == Event {
        self.init(Loop(definition))
    }

    /// The store of a loop that runs elsewhere.
    /// - Parameters:
    ///   - source: updates of the loop, and the way to send events to it.
    ///   - placeholder: shown until the first state arrives.
    package convenience init(remote source: RemoteSource<State, Event>, showing placeholder: State) {
        let feed = StoreFeed(RemoteStanding(state: placeholder))
        let standing = feed.value
        let outbound = OutboundEvents(send: source.send)
        let sender = Sender<State, Event>(
            read: { standing.withLock { $0.state } }, send: { [weak outbound] in outbound?.add($0) },
            mutate: { [weak outbound] _ in outbound?.report(.changedWithoutEvent) })
        self.init(
            read: { standing.withLock { $0.state } },
            subscribe: { RemoteStanding.subscribe(to: standing, $0) },
            connection: { standing.withLock { $0.connection } },
            problem: { outbound.problem.withLock { $0 } }, forget: { outbound.problem.withLock { $0 = nil } },
            sender: sender, owned: [feed, outbound])
        outbound.changed.withLock { $0 = { [weak self] in self?.tellProblem() } }
        let updates = source.updates
        feed.follow(by: self) { store in
            for await update in updates {
                let news = standing.withLock { $0.take(update.state, update.connection) }
                for reader in news.readers { reader.yield(news.state) }
                guard let store = store() else { break }
                if !news.readers.isEmpty || update.state != nil { store.tellState() }
                if news.isConnection { store.tellConnection() }
            }
            let (isNews, readers) = standing.withLock { $0.end() }
            for reader in readers { reader.finish() }
            if isNews { store()?.tellConnection() }
        }
    }

    init(
        read: @escaping @Sendable () -> State, subscribe: @escaping States<State>.Subscribe,
        connection: @escaping @Sendable () -> StoreConnection, problem: @escaping @Sendable () -> StoreProblem?,
        forget: @escaping @Sendable () -> Void,
        sender: Sender<State, Event>, owned: [any AnyObject & Sendable]
    ) {
        self.read = read
        self.subscribe = subscribe
        readConnection = connection
        readProblem = problem
        self.forget = forget
        self.sender = sender
        self.owned = owned
    }

    // MARK: What is shown

    /// The latest state that is known here. Over a remote loop it is the placeholder while `connection` is `.connecting`.
    public var state: State {
        ReadingLog.current?.look(at: changes)
        access(keyPath: \.state)
        return read()
    }

    /// The present state, then every later one. The sequence does not keep the store or its loop alive.
    ///
    /// Over a remote loop these are the states that arrive here, which may leave some out. While `connection` is `.connecting`, the
    /// placeholder comes first.
    public var states: States<State> { States(subscribe: subscribe) }

    /// How up to date the store is.
    public var connection: StoreConnection {
        ReadingLog.current?.look(at: changes)
        access(keyPath: \.connection)
        return readConnection()
    }

    /// The last event or change that the loop did not apply, until `forgetProblem()`. It is always nil for a loop in this process.
    public var problem: StoreProblem? {
        ReadingLog.current?.look(at: changes)
        access(keyPath: \.problem)
        return readProblem()
    }

    /// The present state with the way to send events. It does not keep the store alive.
    public var context: Context<State, Event> { Context(state: state, sender: sender) }

    // MARK: Sending

    /// Sends one event. For a loop in this process, it has been reduced when this returns, unless another thread is sending. Over a
    /// remote loop it is sent after earlier events. After the loop's end this does nothing.
    public func send(event: Event) { sender.send(event) }

    /// Changes one field through the loop's queue. The loop publishes a state, but the reducer and the feedbacks see no event. Over
    /// a remote loop nothing changes, and `problem` says so: send an event instead.
    public func mutate<Value: Sendable>(
        keyPath: any WritableKeyPath<State, Value> & Sendable, value: Value
    ) {
        sender.mutate { $0[keyPath: keyPath] = value }
    }

    /// Forgets the last problem after it has been shown.
    package func forgetProblem() {
        forget()
        tellProblem()
    }

    // MARK: Notifying

    func tellState() { tell(\.state) }
    private func tellConnection() { tell(\.connection) }
    private func tellProblem() { tell(\.problem) }

    private func tell<Member>(_ keyPath: KeyPath<Store, Member>) {
        changes.add()
        withMutation(keyPath: keyPath) {}
    }
}

/// The older name of `Store`.
public typealias ViewModel = Store

/// What a store knows, and the task that receives updates until the store is released.
final class StoreFeed<Value: Sendable>: Sendable {
    let value: Locked<Value>
    private let task = Locked<Task<Void, Never>?>(nil)

    init(_ initial: Value) { value = Locked(initial) }

    deinit { task.withLock { $0 }?.cancel() }

    /// Runs `body`, which can get the store while it exists.
    func follow<Owner: AnyObject & Sendable>(
        by owner: Owner, _ body: @escaping @Sendable (_ owner: @Sendable () -> Owner?) async -> Void
    ) {
        let find: @Sendable () -> Owner? = { [weak owner] in owner }
        // Detached, because no task waits for it, and the end of this object cancels it.
        let new = Task.detached { await body(find) }
        task.withLock { $0 = new }
    }
}
