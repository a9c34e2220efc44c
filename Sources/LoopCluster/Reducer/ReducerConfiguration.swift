package import LoopCore
internal import LoopWire

/// The limits and intervals of a reducer. Every queue has its bound here (G10).
public struct ReducerConfiguration: Sendable {
    /// How long a worker may be silent before its effects may be given to others.
    public var silenceLimit: Duration
    /// The largest encoded event, in bytes. Senders get this limit, and refuse larger events before they number them.
    public var eventBytesMax: Int
    /// How many numbered inbox messages may be under way to a peer. The window is below half of the publisher's high-water
    /// mark, so that nothing is dropped for a worker that reads.
    package var inboxWindow: UInt64
    /// The largest capacity of one peer, whatever it reports.
    package var capacityMax: Int
    /// How many sessions there may be, without the one of the reducer's own process. For one more peer, the session that has
    /// been idle the longest is given up. If none can be, the peer is asked to come again, with the reason.
    public var sessionsMax: Int
    /// How many of them one key may have, or one other machine if the reducer has no keys. If nil, half of them.
    package var sessionsPerKeyMax: Int?
    /// How long a session without a sign of life and without effects is kept.
    package var sessionRetention: Duration
    /// How many updates per second leave on each stream of updates at most, whatever observers choose.
    public var updatesPerSecond: Double
    /// Whether hashes of the state are journaled, so that replays can be checked.
    package var stateHashes: Bool
    /// The largest payload of one message of commands, assignments, outcomes or status, in bytes; well below the limit of the wire.
    package var payloadBytesMax = Wire.messageBytesMax / 2
    /// The largest state that is published in one message, in bytes; a larger one is fetched.
    package var stateBytesMax = Wire.messageBytesMax - 1024
    /// The size of the parts in which a state is fetched, in bytes.
    package var statePartBytes = 256 << 10
    /// How many sessions one connection may open. A peer needs one, and another one after it has abandoned its session.
    package var sessionsPerConnectionMax = 16
    /// How many commands may wait for a peer, besides four for each effect of its capacity.
    package var commandsBase = 64
    /// How many encoded states are kept at once, for the whole state and for each section. There are as many again for
    /// observers that follow deltas.
    package var transfersMax = 4
    /// How many streams of updates are served. An observer of another one fetches the state when the server heartbeat shows a
    /// newer one.
    package var updateStreamsMax = 64
    /// The largest state or section, in bytes, that is hashed or encoded in a turn. For a larger one, by its last known size,
    /// another thread does it, so that a turn takes some milliseconds at most.
    package var hashedBytesMax = 64 << 10
    /// How many batches wait while an event is reduced alone. Others are dropped, and come again.
    package var deferredBatchesMax = 2048

    /// Whether a clock that is behind the times in the journal, because it was ahead before, counts as right. An epoch then begins
    /// with the clock's time. Use it for one start.
    public var acceptsClock = false

    /// Whether each event is reduced twice and everything is hashed afterwards. This is for development, and costs several times as
    /// much. The log names an event that gave two states; `verify` then finds a difference between processes at its exact seq.
    public var checksPurity = false

    /// Creates a configuration. Every limit has a default that suits a production loop.
    public init(
        silenceLimit: Duration = .seconds(3), eventBytesMax: Int = 512 << 10, inboxWindow: UInt64 = 400,
        capacityMax: Int = 65_536, sessionsMax: Int = 10_000, sessionsPerKeyMax: Int? = nil,
        sessionRetention: Duration = .seconds(24 * 3600),
        updatesPerSecond: Double = 10, stateHashes: Bool = true
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
    }

    /// The time between two ticks: at most a second, and at most a sixth of the silence limit.
    package var tickInterval: Duration { min(.seconds(1), silenceLimit / 6) }
}

/// The name of the group of effects that run in the reducer's own process. No remote worker may serve it.
package let localGroup = "(local)"

/// The name of the group of effects that the reducer fulfils itself, without a member: timers. No worker may serve it.
package let reducerGroup = "(reducer)"

extension Placement {
    /// The group whose members run effects placed here.
    package var group: String {
        switch self {
        case .local: localGroup
        case .workers(let group): group
        case .reducer: reducerGroup
        }
    }
}
