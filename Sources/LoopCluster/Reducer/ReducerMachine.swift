public import LoopCore
public import LoopWire

/// The reducer's side of the protocol, without sockets, clocks, threads or chance.
///
///     control, batches, time ──▶ machine ──▶ Ready { records, messages, deadline }
///
/// A turn: any number of `receive`, one `advance`, one `ready`. What the turn produced leaves in exchange for the
/// journal's receipt. The parts, each in a file of `ReducerCore`: Control (greeting, claims, heartbeats, requests),
/// Consumption (entries: dedup, fence, reduce), Dispatch (grants, leases, retries), Publication (commands,
/// acknowledgements, ticks, updates), Status.
public struct ReducerMachine<Definition: LoopDefinition>: Sendable {
    private var machine: ReducerCore

    /// A machine on an empty journal, or on one whose records are then replayed. Ends with `begin`.
    /// - Parameter seed: of the jitter in delays.
    public init(
        definition: Definition, configuration: ReducerConfiguration, coder: any ValueCoder, history: History,
        seed: UInt64, at now: Moment
    ) {
        self.init(
            recovered: JournaledState(definition: definition, coder: coder, history: history),
            configuration: configuration, seed: seed, at: now)
    }

    /// A machine on what a journal has given: a snapshot, and the records after it. Ends with `begin`.
    /// - Parameter seed: of the jitter in delays.
    package init(
        recovered core: JournaledState<Definition>, configuration: ReducerConfiguration, seed: UInt64, at now: Moment
    ) {
        machine = ReducerCore(recovered: core.core, configuration: configuration, seed: seed, at: now)
    }

    // MARK: The life of a machine

    /// Applies a record of the journal, before `begin`.
    public mutating func replay(_ record: Record) throws { try machine.replay(record) }

    /// Begins an epoch: from here on peers may greet. Live effects of an earlier epoch wait for claims first.
    public mutating func begin(nonce: UInt64, at now: Moment) { machine.begin(nonce: nonce, at: now) }

    /// A message that came over ROUTER. (Protocol, section 5.)
    public mutating func receive(_ message: ToReducer, from route: Route, at now: Moment) {
        machine.receive(message, from: route, at: now)
    }

    /// Entries, consumed strictly in sequence. (Protocol, sections 2 and 4.)
    public mutating func receive(_ batch: Batch, at now: Moment) { machine.receive(batch, at: now) }

    /// A peer of another version of the protocol asked for something: it is told which version is spoken here.
    public mutating func refuse(protocolVersion version: UInt8, _ route: Route) {
        machine.refuse(protocolVersion: version, route)
    }

    /// A peer listens to its inbox, on a connection that is new. One that was here in an earlier epoch is told the present
    /// one, so that it greets at once and does not wait to notice a silence.
    public mutating func noticeSubscription(of peer: PeerID) { machine.noticeSubscription(of: peer) }

    /// Who listens beside the workers.
    public var subscriptions: Subscriptions {
        get { machine.subscriptions }
        set { machine.follow(newValue) }
    }

    /// A new subscriber to a stream of whole states waits for no change: the next turn publishes the state as it is.
    public mutating func publishAgain(_ stream: UpdateStream) { machine.publishAgain(stream) }

    /// Whether batches that have arrived wait to be read: then nobody can tell what was lost. For the shell to say before
    /// `advance`, in every turn.
    public var hasUnreadBatches: Bool {
        get { machine.hasUnreadBatches }
        set { machine.hasUnreadBatches = newValue }
    }

    /// Takes notice of time: leases, timeouts, grace, ticks. Once in each turn, after everything that was received.
    public mutating func advance(to now: Moment) { machine.advance(to: now) }

    /// Ends the turn: grants what can be granted, and hands out records and messages.
    public mutating func ready() -> Ready { machine.ready() }

    /// Goes on under another history, with the state as it is: every session ends, every attempt is void, and everything
    /// that is wanted is granted anew. Peers end what they run when they are welcomed into it.
    public mutating func beginHistory(_ history: History, at now: Moment) { machine.beginHistory(history, at: now) }

    // MARK: Events that end the process

    /// Where each entry is noted while it is reduced; its suspects are reduced alone. To be set before the replay.
    public var crashNote: CrashNote? {
        get { machine.crashNote }
        set { machine.crashNote = newValue }
    }

    /// Whether something waits for a turn of its own: the shell's next turn begins with `takeDeferred`.
    public var hasDeferred: Bool { machine.hasDeferred }

    /// Takes up what an earlier turn put off, as far as it fits into one turn. Comes first in its turn.
    public mutating func takeDeferred(at now: Moment) { machine.takeDeferred(at: now) }

    /// The records of every `ready` so far are durable: suspects that were consumed are suspects no longer.
    public mutating func turnIsDurable() { machine.turnIsDurable() }

    /// Lines for people about events that end the process; for the shell's log.
    public mutating func takeAlarms() -> [String] { machine.takeAlarms() }

    // MARK: Work for other threads

    /// Work on copies of the state that the shell has done by other threads; each result comes back by `receive`. Taken when
    /// the turn is durable.
    public mutating func takeErrands() -> [Errand] { machine.takeErrands() }

    /// What came of an errand; one of another machine is passed over.
    public mutating func receive(_ result: Errand.Result, at now: Moment) { machine.receive(result, at: now) }

    // MARK: Operators

    /// What is waiting for the journal; the shell answers each by `answer`.
    public mutating func takeJournalRequests() -> [JournalRequest] { machine.takeJournalRequests() }

    /// Answers a request; leaves with the turn's receipt.
    public mutating func answer(_ answer: AdministrationAnswer, _ number: UInt64, _ route: Route) {
        machine.answer(answer, number, route)
    }

    /// A report as of this turn; it leaves only with the turn's receipt, so that an answer is a commit (G14).
    public func status() -> StatusReport { machine.status() }

    /// What has been counted for people.
    public var counters: [Counter: UInt64] { machine.counters }

    /// Counts what the shell has seen.
    public mutating func count(_ counter: Counter, _ amount: UInt64 = 1) { machine.count(counter, amount) }

    // MARK: What a shell wants to know

    public var configuration: ReducerConfiguration { machine.configuration }
    public var fingerprintValue: UInt64 { machine.fingerprint.value }
    public var history: History { machine.history }
    public var epoch: Epoch { machine.epoch }
    public var seq: Seq { machine.seq }

    /// The state after the last event of this turn. What is shown of it must wait for the turn's receipt.
    public var state: Definition.State { core.state }

    /// The loop's end, once it has come.
    public var end: Outcome? { machine.end }

    /// Where the peer of this process goes on, in the session that the one of an earlier process left: behind everything that
    /// was consumed of it. Nothing else that one sent can still arrive. Nil: there is no such session yet.
    public var localStream: PeerStream? { machine.localStream }

    /// How many peers are greeted, not counting one.
    public func memberCount(besides peer: PeerID?) -> Int { machine.memberCount(besides: peer) }

    /// What the journal determines.
    package var core: JournaledState<Definition> { JournaledState(machine.core) }

    /// How full its queues are.
    package var queues: [QueueMeasure] { machine.queues }

    /// Up to where the entries of a session have been read without a gap; nil: its batches are dropped.
    package func read(of session: SessionID) -> UInt64? { machine.read(of: session) }

    /// The sessions of which batches wait for a turn of their own.
    package var waitingSessions: [SessionID] { machine.poison.deferred.batches.map(\.session) }

    package var brokenRules: BrokenRules {
        get { machine.brokenRules }
        set { machine.brokenRules = newValue }
    }
}

/// Who listens beside the workers; the shell learns it from the publisher's subscriptions.
public struct Subscriptions: Equatable, Sendable {
    /// The streams of updates that somebody follows, each once, in the order in which they came.
    public var streams: [UpdateStream] = []
    /// Whether somebody with this definition follows the events.
    public var hasEvents = false
    /// Whether somebody looks at the transitions.
    public var hasTransitions = false

    public init() {}
}
