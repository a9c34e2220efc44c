public import LoopCore
internal import LoopWire

/// The limits and intervals of a reducer; every queue has its bound here (G10).
public struct ReducerConfiguration: Sendable {
    /// How long a worker may be silent before its effects may be given to others.
    public var silenceLimit: Duration
    /// The largest encoded event, in bytes; told to senders, who refuse larger ones before they are numbered.
    public var eventBytesMax: Int
    /// How many numbered inbox messages may go beyond what a peer has confirmed. Below half of the publisher's
    /// high-water mark, so that nothing is dropped for a worker that reads.
    public var inboxWindow: UInt64
    /// How many effects one peer may hold, whatever it says of itself.
    public var capacityMax: Int
    /// How many sessions there may be, not counting the one of the reducer's own process. For a peer beyond that the session
    /// that has been idle the longest is given up; where none can be, the peer is told to come again, and why.
    public var sessionsMax: Int
    /// How many of them one key may have, or one other machine where the reducer has no keys; nil: half of them.
    public var sessionsPerKeyMax: Int?
    /// How long a session without a sign of life and without effects is kept.
    public var sessionRetention: Duration
    /// How often an update leaves on each stream of updates, at most, whatever observers choose.
    public var updatesPerSecond: Double
    /// Whether hashes of the state go into the journal, for whoever replays it.
    public var stateHashes: Bool
    /// Where peers find the publisher and the collector: a port for TCP, else an endpoint.
    public var publisher: String
    /// The collector's place, in the form of ``publisher``.
    public var collector: String
    /// Whether the reducer has keys: then no key is admitted until the shell has told `ReducerCore.admit` which are.
    public var isGuarded = false
    /// Whether other machines can reach the reducer although it has no keys; status warns of it.
    public var isOpenToAll = false
    /// When the reducer's process began, which may be before it led.
    package var processBegan = MonotonicTime.zero
    /// The zones of the time zone database that the definition's schedules name.
    package var timeZones = ZoneDatabase()
    /// The largest payload of one message of commands, assignments, outcomes or status, in bytes: well below the limit of the
    /// wire.
    package var payloadBytesMax = Wire.messageBytesMax / 2
    /// The largest state that is published in one message, in bytes; a larger one is fetched.
    package var stateBytesMax = Wire.messageBytesMax - 1024
    /// The parts in which a state is fetched, in bytes.
    package var statePartBytes = 256 << 10
    /// How many sessions may be opened over one connection. A peer needs one, and another after it has abandoned that.
    package var sessionsPerConnectionMax = 16
    /// How many commands may wait for a peer, besides four for each effect that it may hold.
    package var commandsBase = 64
    /// How many encoded states are kept at once, of the whole state and of each section; and as many again for those who follow
    /// deltas.
    package var transfersMax = 4
    /// How many streams of updates are served; who follows another one fetches the state when the server heartbeat shows a
    /// newer one.
    package var updateStreamsMax = 64
    /// What is larger, in bytes, when it was last known is not hashed in a turn but by another thread: a turn is to take some
    /// milliseconds at most.
    package var hashedBytesMax = 64 << 10
    /// How many batches wait while an event is reduced alone; what is beyond comes again.
    package var deferredBatchesMax = 2048
    /// How much is kept of the newest transitions, in bytes, for observers of events that have missed some.
    package var transitionBytesMax = 4 << 20

    /// Whether a clock that is behind the times in the journal counts as right. An epoch then begins with the clock's time.
    public var acceptsClock = false

    /// Whether each event is reduced twice, and a hash written after it: for development, at several times the cost.
    public var checksPurity = false

    /// Creates a configuration; every limit has a default that suits a production loop.
    public init(
        silenceLimit: Duration = .seconds(3), eventBytesMax: Int = 512 << 10, inboxWindow: UInt64 = 400,
        capacityMax: Int = 65_536, sessionsMax: Int = 10_000, sessionsPerKeyMax: Int? = nil,
        sessionRetention: Duration = .seconds(24 * 3600),
        updatesPerSecond: Double = 10, stateHashes: Bool = true, publisher: String = "", collector: String = ""
    ) {
        self.silenceLimit = silenceLimit
        self.eventBytesMax = eventBytesMax
        self.inboxWindow = inboxWindow
        self.capacityMax = capacityMax
        self.sessionsMax = sessionsMax
        self.sessionsPerKeyMax = sessionsPerKeyMax
        self.sessionRetention = sessionRetention
        self.updatesPerSecond = updatesPerSecond
        self.stateHashes = stateHashes
        self.publisher = publisher
        self.collector = collector
    }

    /// How long peers may take to find this reducer once they have noticed the silence of the one before: zero where it is always at
    /// the same address, ``LeaderSearch/walkMax`` where it may be at several.
    public var searchLimit = Duration.zero
    /// Whether it can let another reducer lead, and stand by.
    public var mayStepDown = false
    /// The address at which it wants to be known to peers and tools; nil: it does not say.
    public var advertised: String?
    /// How long after a restart effects of an earlier epoch wait to be claimed by the peers that run them.
    public var graceLimit: Duration { silenceLimit + searchLimit }
    /// At least every second, and six times within the silence limit.
    public var tickInterval: Duration { min(.seconds(1), silenceLimit / 6) }
}

/// Everything that is dropped or refused, by reason; shown by status.
public enum Counter: String, CaseIterable, Sendable {
    case malformedFrame
    case foreignHistory
    case unknownSession
    case beforeClaim
    case duplicateEntry
    case gapInStream
    case refusedStale
    case refusedAttempt
    case refusedUndecodable
    case refusedEnded
    case refusedQuarantined
    case refusedOther
    case joinRefused
    /// Messages of principals that may not do what they ask.
    case notAllowed
    /// Join requests that name what this journal does not have, and are not of the key that would know.
    case lossNotBelieved
    /// Sessions that ended with the right of their keys.
    case sessionRevoked
    /// Connections that were ended because they subscribed to what is not for them.
    case subscriptionRefused
    /// Connections that were ended because there were as many as there may be.
    case connectionsFull
    /// How often new connections were put off for a while because there were more in a second than there may be.
    case connectionsPutOff
    /// Connections that were ended because they said nothing for long.
    case connectionSilent
    /// Connections that were ended because they held more unfinished or unread input than they may.
    case inputFull
    /// Connections that were ended because they did not read their answers.
    case answersUnread
    /// Connections that ended before they had said anything that could be read, for example because of a message above the size limit.
    case disconnected
    /// Handshakes that were broken off: foreign bytes, a key that is not admitted, time that was over.
    case handshakeFailed
    /// Connections that the system could not open.
    case acceptFailed
    /// Join requests that had to wait because there are as many sessions as there may be.
    case sessionsFull
    /// The same, because one connection, key or machine has as many as it may have.
    case sessionShareFull
    /// Idle sessions that were given up because there were as many as there may be.
    case sessionEvicted
    case olderEpoch
    case leaseExpired
    case effectFailed
    case effectTimedOut
    case effectParked
    case stateTransferBusy
    /// Streams of updates that somebody wanted to follow, and that were too many.
    case updateStreamsFull
    /// Events that were set aside because the process ended in them.
    case quarantined
    /// Events in which the process had ended once, and which survived alone in a turn.
    case reducedAlone
    /// Batches that were to wait for such a turn, and had no room: they come again.
    case deferredDropped
    /// Join requests that name what this journal does not have.
    case historyLost
    /// Join requests of peers that have a session here and come from another history, so another reducer has led with another journal.
    case otherHistory
    /// Lines of the process's log that nobody read.
    case droppedLogLine
}

/// The name of the group of effects that run in the reducer's own process. No remote worker may serve it.
public let localGroup = "(local)"

/// The name of the group of what the reducer fulfils itself, without a member: timers. No worker may serve it.
public let reducerGroup = "(reducer)"

extension Placement {
    /// The group whose members run effects placed here.
    public var group: String {
        switch self {
        case .local: localGroup
        case .workers(let group): group
        case .reducer: reducerGroup
        }
    }
}
