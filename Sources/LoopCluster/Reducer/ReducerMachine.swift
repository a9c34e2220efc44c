public import LoopCore
public import LoopWire

/// The reducer's side of the protocol, without sockets, clocks, threads or chance.
///
///     turn(at:) { intake in … } ──▶ Ready ──▶ journal ──▶ receipt ──▶ release ──▶ Released { messages, jobs, … }
///
/// A shell has one way through a turn. `turn` hands out an intake for what has arrived, then lets time pass, and ends with the
/// records to append. `release` exchanges the journal's receipt for everything that depends on those records (G7). Turns may go
/// on while earlier ones wait for their receipts, except behind a barrier (`Ready.isBarrier`).
///
/// The rules are in `ReducerCore`, which knows nothing of the definition's types.
public struct ReducerMachine<Definition: LoopDefinition>: Sendable {
    private var reducer: ReducerCore

    /// A machine on an empty journal, at the beginning of its first epoch.
    /// - Parameters:
    ///   - definition: the loop to run.
    ///   - configuration: the reducer's limits.
    ///   - coder: the coder of the definition's values.
    ///   - history: the random name of the new history.
    ///   - seed: of the jitter in delays.
    ///   - nonce: tells this epoch from others of the same number.
    ///   - now: the shell's present time.
    public init(
        definition: Definition, configuration: ReducerConfiguration, coder: any ValueCoder, history: History,
        seed: UInt64, nonce: UInt64, at now: Moment
    ) {
        self.init(
            recovered: JournaledState(definition: definition, coder: coder, history: history),
            configuration: configuration, seed: seed, nonce: nonce, at: now)
    }

    /// A machine that goes on where the journal ends, at the beginning of a new epoch. Effects of an earlier epoch wait for
    /// claims first.
    /// - Parameters:
    ///   - recovery: the replayed journal.
    ///   - configuration: the reducer's limits.
    ///   - seed: of the jitter in delays.
    ///   - nonce: tells this epoch from others of the same number.
    ///   - now: the shell's present time.
    public init(
        _ recovery: Recovery<Definition>, configuration: ReducerConfiguration, seed: UInt64, nonce: UInt64,
        at now: Moment
    ) {
        self.init(recovered: recovery.core, configuration: configuration, seed: seed, nonce: nonce, at: now)
    }

    /// The same, on a state that was recovered some other way. Each entry that is reduced is noted in the state's crash note,
    /// and the note's suspects are reduced alone.
    package init(
        recovered core: JournaledState<Definition>, configuration: ReducerConfiguration, seed: UInt64, nonce: UInt64,
        at now: Moment
    ) {
        reducer = ReducerCore(recovered: core.core, configuration: configuration, seed: seed, at: now)
        reducer.begin(nonce: nonce)
    }

    // MARK: Turns

    /// One turn: takes what has arrived, lets time pass, and grants what can be granted.
    /// - Parameters:
    ///   - now: when what has arrived is taken to have arrived. The turn ends at this time, or at the one that the closure
    ///     gives to `ReducerCore.passTime`.
    ///   - take: hands the intake what has arrived.
    /// - Returns: what is to be journaled before anything leaves.
    public mutating func turn<Failure: Error>(
        at now: Moment, _ take: (_ intake: inout ReducerCore) throws(Failure) -> Void
    ) throws(Failure) -> Ready {
        reducer.passTime(to: now)
        reducer.takeDeferred()
        try take(&reducer)
        reducer.advance()
        return reducer.ready()
    }

    /// A turn to which nothing has arrived.
    public mutating func turn(at now: Moment) -> Ready { turn(at: now) { _ in } }

    /// Ends a turn whose records are durable: hands out everything that may happen now, and forgets the suspects that
    /// survived it.
    /// - Parameters:
    ///   - ready: what the turn has returned. Turns are released in their order.
    ///   - receipt: the journal's, for the turn's records or for later ones. An earlier one is a programming error.
    public mutating func release(_ ready: consuming Ready, _ receipt: JournalReceipt) -> Released {
        precondition(
            receipt.position >= ready.position,
            "what depends on record \(ready.position) was to leave on a receipt through \(receipt.position)")
        reducer.strike(ready.survivors)
        return ready.released
    }

    /// Goes on under another history, with the state as it is: every session ends, every attempt is void, and everything
    /// that is wanted is granted again. Peers end what they run when they are admitted into it. Between two turns.
    public mutating func beginHistory(_ history: History, at now: Moment) { reducer.beginHistory(history, at: now) }

    // MARK: What a shell wants to know

    /// A report as of the newest turn. What it shows must wait for the turn's receipt (G14).
    public func status() -> StatusReport { reducer.status() }

    /// What has been counted for people.
    public var counters: [Counter: UInt64] { reducer.turn.counters }

    /// The limits and intervals that the machine was made with.
    public var configuration: ReducerConfiguration { reducer.context.configuration }
    /// The hash of the definition, which peers of the same schema must have too.
    public var fingerprintValue: UInt64 { reducer.journaled.loop.fingerprint.value }
    /// The life of the journal that the machine continues.
    public var history: History { reducer.journaled.history }
    /// The epoch that the machine began.
    public var epoch: Epoch { reducer.journaled.epoch }
    /// The seq of the newest transition of the newest turn; 0 before the first event.
    public var seq: Seq { reducer.journaled.seq }

    /// The state after the last event of the newest turn. What is shown of it must wait for the turn's receipt.
    public var state: Definition.State { core.state }

    /// The loop's end, once it has come.
    public var end: Outcome? { reducer.phase.outcome }

    /// Who listens besides the workers.
    public var subscriptions: Subscriptions { reducer.updates.subscriptions }

    /// Where the peer of this process goes on, in the session that the one of an earlier process left: after everything that
    /// was consumed of it. Nothing else that one sent can still arrive. Nil: there is no such session yet.
    public var localStream: PeerStream? { reducer.journaled.localStream }

    /// How many peers are admitted, not counting one.
    public func memberCount(besides peer: PeerID?) -> Int { reducer.admission.members.count { $0.value.peer != peer } }

    /// The peers that are admitted.
    public var memberPeers: [PeerID] { reducer.admission.members.map { $0.value.peer } }

    /// Whether some of what has arrived waits for the next turn.
    public var hasDeferred: Bool { reducer.poison.hasDeferred }

    /// What the journal determines.
    package var core: JournaledState<Definition> { JournaledState(reducer.journaled) }

    /// How full its queues are.
    package var queues: [QueueMeasure] { reducer.queues }

    /// Up to where the entries of a session have been read without a gap; nil: its batches are dropped.
    package func read(of session: SessionID) -> UInt64? { reducer.read(of: session) }
    /// Whether a member has been heard within the silence limit.
    package func hears(_ session: SessionID) -> Bool { reducer.admission.isHeard(session, reducer.context) }

    /// The sessions of which batches wait for a turn of their own.
    package var waitingSessions: [SessionID] { reducer.poison.deferred.batches.map(\.session) }
}

/// The listeners besides the workers; the shell learns it from the publisher's subscriptions.
public struct Subscriptions: Equatable, Sendable {
    /// The streams of updates that somebody follows, each once, in the order in which they came.
    public var streams: [UpdateStream] = []
    /// Whether somebody with this definition follows the events.
    public var hasEvents = false
    /// Whether somebody looks at the transitions.
    public var hasTransitions = false

    /// No subscriptions.
    public init() {}
}
