public import LoopCore
public import LoopWire

/// The reducer's side of the protocol, without sockets, clocks, threads or randomness.
///
///     turn(at:) { intake in … } ──▶ Ready ──▶ journal ──▶ receipt ──▶ release ──▶ Released { messages, jobs, … }
///
/// A shell performs a turn in one way. `turn` provides an intake for what has arrived, then advances the time, and ends with
/// the records to append. `release` exchanges the journal's receipt for everything that depends on those records (G7). Turns
/// may continue while earlier ones wait for their receipts, except after a barrier (`Ready.isBarrier`).
///
/// The rules are in `ReducerCore`, which does not know the definition's types.
public struct ReducerMachine<Definition: LoopDefinition>: Sendable {
    private var reducer: ReducerCore

    /// Creates a machine on an empty journal, at the beginning of its first epoch.
    /// - Parameters:
    ///   - definition: the loop to run.
    ///   - configuration: the reducer's limits.
    ///   - coder: the coder of the definition's values.
    ///   - history: the random name of the new history.
    ///   - seed: the seed of the jitter in delays.
    ///   - nonce: a random number that distinguishes this epoch from others of its number.
    ///   - now: the shell's present time.
    public init(
        definition: Definition, configuration: ReducerConfiguration, coder: any ValueCoder, history: History,
        seed: UInt64, nonce: UInt64, at now: Moment
    ) {
        self.init(
            recovered: JournaledState(definition: definition, coder: coder, history: history),
            configuration: configuration, seed: seed, nonce: nonce, at: now)
    }

    /// Creates a machine that continues a journal, at the beginning of a new epoch. Effects of an earlier epoch first wait for
    /// claims.
    /// - Parameters:
    ///   - recovery: the replayed journal.
    ///   - configuration: the reducer's limits.
    ///   - seed: the seed of the jitter in delays.
    ///   - nonce: a random number that distinguishes this epoch from others of its number.
    ///   - now: the shell's present time.
    public init(
        _ recovery: Recovery<Definition>, configuration: ReducerConfiguration, seed: UInt64, nonce: UInt64,
        at now: Moment
    ) {
        self.init(recovered: recovery.core, configuration: configuration, seed: seed, nonce: nonce, at: now)
    }

    /// Creates a machine from a state that was recovered in another way. It writes each entry that it reduces into the state's
    /// crash note, and reduces the note's suspects alone.
    package init(
        recovered core: JournaledState<Definition>, configuration: ReducerConfiguration, seed: UInt64, nonce: UInt64,
        at now: Moment
    ) {
        reducer = ReducerCore(recovered: core.core, configuration: configuration, seed: seed, at: now)
        reducer.begin(nonce: nonce)
    }

    // MARK: Turns

    /// Performs one turn: takes what has arrived, advances the time, and grants what can be granted.
    /// - Parameters:
    ///   - now: the time of arrival. The turn ends at this time, or at one that the closure passes to `ReducerCore.passTime`.
    ///   - take: passes to the intake what has arrived.
    /// - Returns: the records to append before anything leaves.
    public mutating func turn<Failure: Error>(
        at now: Moment, _ take: (_ intake: inout ReducerCore) throws(Failure) -> Void
    ) throws(Failure) -> Ready {
        reducer.passTime(to: now)
        reducer.takeDeferred()
        try take(&reducer)
        reducer.advance()
        return reducer.ready()
    }

    /// Performs a turn in which nothing has arrived.
    public mutating func turn(at now: Moment) -> Ready { turn(at: now) { _ in } }

    /// Ends a turn whose records are durable. It returns everything that may happen now, and forgets the suspects that survived
    /// the turn.
    /// - Parameters:
    ///   - ready: the result of the turn. Turns are released in their order.
    ///   - receipt: the journal's receipt for the turn's records or for later ones. An earlier one is a programming error.
    public mutating func release(_ ready: consuming Ready, _ receipt: JournalReceipt) -> Released {
        precondition(
            receipt.position >= ready.position,
            "what depends on record \(ready.position) was to leave on a receipt through \(receipt.position)")
        reducer.strike(ready.survivors)
        return ready.released
    }

    /// Continues in another history with the present state. Every session ends, every attempt is void, and every live effect is
    /// granted again. Peers end their attempts when they are admitted to the new history. Call it between two turns.
    public mutating func beginHistory(_ history: History, at now: Moment) { reducer.beginHistory(history, at: now) }

    // MARK: For the shell

    /// A report as of the newest turn. It must wait for the turn's receipt before it is shown (G14).
    public func status() -> StatusReport { reducer.status() }

    /// The counters for people.
    public var counters: [Counter: UInt64] { reducer.turn.counters }

    /// The limits and intervals that the machine was made with.
    public var configuration: ReducerConfiguration { reducer.context.configuration }
    /// The hash of the definition, which peers of its schema must have too.
    public var fingerprintValue: UInt64 { reducer.journaled.loop.fingerprint.value }
    /// The present history of the journal.
    public var history: History { reducer.journaled.history }
    /// The epoch that the machine began.
    public var epoch: Epoch { reducer.journaled.epoch }
    /// The seq of the newest transition of the newest turn; 0 before the first event.
    public var seq: Seq { reducer.journaled.seq }

    /// The state after the last event of the newest turn. It must wait for the turn's receipt before it is shown.
    public var state: Definition.State { core.state }

    /// The loop's outcome, once it has ended.
    public var end: Outcome? { reducer.phase.outcome }

    /// The subscriptions of observers and tools.
    public var subscriptions: Subscriptions { reducer.updates.subscriptions }

    /// The stream with which the peer of this process continues its predecessor's session, after everything that was consumed
    /// of it. Nothing else of the predecessor can still arrive. It is nil if there is no such session yet.
    public var localStream: PeerStream? { reducer.journaled.localStream }

    /// How many peers are admitted, without a given one.
    public func memberCount(besides peer: PeerID?) -> Int { reducer.admission.members.count { $0.value.peer != peer } }

    /// The peers that are admitted.
    public var memberPeers: [PeerID] { reducer.admission.members.map { $0.value.peer } }

    /// Whether something that has arrived waits for the next turn.
    public var hasDeferred: Bool { reducer.poison.hasDeferred }

    /// Everything that the journal determines.
    package var core: JournaledState<Definition> { JournaledState(reducer.journaled) }

    /// The lengths of its queues.
    package var queues: [QueueMeasure] { reducer.queues }

    /// The number up to which the entries of a session were read without a gap, or nil if its batches are dropped.
    package func read(of session: SessionID) -> UInt64? { reducer.read(of: session) }
    /// Whether a member has sent something within the silence limit.
    package func hears(_ session: SessionID) -> Bool { reducer.admission.isHeard(session, reducer.context) }

    /// The sessions whose batches wait for their own turn.
    package var waitingSessions: [SessionID] { reducer.poison.deferred.batches.map(\.session) }
}

/// The subscriptions of observers and tools. The shell learns them from its publisher.
public struct Subscriptions: Equatable, Sendable {
    /// The streams of updates that observers follow, each once, in the order in which they were first followed.
    public var streams: [UpdateStream] = []
    /// Whether an observer with this definition follows the events.
    public var hasEvents = false
    /// Whether a tool follows the transitions.
    public var hasTransitions = false

    /// Creates an empty set of subscriptions.
    public init() {}
}
