public import LoopCore
public import LoopWire

/// The identity of a peer, and how much it may hold.
public struct PeerConfiguration: Sendable {
    /// The ID under which the peer joins; unique in the loop.
    public var peer: PeerID
    /// The loop's name; empty for a tool that works with any loop.
    public var loop: String
    /// 0 for a tool that works with any schema.
    public var schema: UInt64
    /// 0 for a peer without a definition.
    public var fingerprint: UInt64
    /// The definition's feedbacks, "name@placement"; none for a peer without a definition.
    public var feedbacks: [String]
    /// The groups of effects it serves; none for a peer that only sends.
    public var groups: [String]
    /// How many effects it may hold at once.
    public var capacity: Int
    /// A name for people.
    public var name: String
    /// How many entries may wait for their outcome.
    public var outboxEntriesMax: Int
    /// How many of them are reserved for the ends of effects.
    public var outboxEntriesReserved: Int
    /// How many bytes of entries may wait for their outcome.
    public var outboxBytesMax: Int
    /// How often a step of the join request or a request is repeated until it is answered.
    public var repeatInterval: Duration
    /// The addresses where the reducer that leads may be, as the shell dials them, in the order in which they are tried; at most
    /// ``LeaderSearch/placesMax``. Empty: the shell knows the only one.
    public var places: [String] = []
    /// The largest payload of one message of claims, in bytes: well below the limit of the wire.
    package var payloadBytesMax = Wire.messageBytesMax / 2

    /// Creates a configuration from its parts. Without the optional ones it is that of a sender without a definition.
    public init(
        peer: PeerID, loop: String, schema: UInt64 = 0, fingerprint: UInt64 = 0, feedbacks: [String] = [],
        groups: [String] = [],
        capacity: Int = 0, name: String = "", outboxEntriesMax: Int = 4096, outboxEntriesReserved: Int = 512,
        outboxBytesMax: Int = 32 << 20, repeatInterval: Duration = .milliseconds(200)
    ) {
        self.peer = peer
        self.loop = loop
        self.schema = schema
        self.fingerprint = fingerprint
        self.feedbacks = feedbacks
        self.groups = groups
        self.capacity = capacity
        self.name = name
        self.outboxEntriesMax = outboxEntriesMax
        self.outboxEntriesReserved = outboxEntriesReserved
        self.outboxBytesMax = outboxBytesMax
        self.repeatInterval = repeatInterval
    }
}

/// What a peer machine asks of its shell.
public enum PeerAction: Equatable, Sendable {
    /// Over DEALER.
    case send(ToReducer)
    /// Dial the reducer at this address, which is greeted next: what is said from here on goes there, and nowhere else.
    case dial(String)
    /// A walk through all addresses has found no leader: look up again what names stand for.
    case lookUp
    /// Connect (again, with new sockets) to where the reducer's publisher and collector are, and subscribe the inbox.
    case connect(Introduction)
    /// Dial the present address again, because no greeting there was answered.
    case redial
    /// Build a new PUSH, because the old one takes nothing, or does not deliver.
    case rebuildPush
    /// Run the body of an effect.
    case run(Grant)
    /// A running effect has a newer request.
    case update(EffectID, Attempt, request: RequestBytes)
    /// Cancel the body of an effect.
    case stop(EffectID, Attempt)
    /// The outcome of an entry: of every one that was refused, and of those whose sender waits for the seq. The detail says why it
    /// was refused, in words; it is empty where that is not known.
    case settled(number: UInt64, EntryOutcome, detail: String = "")
    /// An entry that has asked was applied at this seq: its answer. Nil: it is kept no longer, and the seq may be `.initial`.
    case answered(number: UInt64, Seq, EntryAnswer?)
    /// The outbox has room again.
    case hasSpace
    /// The reducer does not let this peer in for now, and says why. The peer asks again by itself; it is let in when it
    /// joins.
    case keptWaiting(reason: String)
    /// The reducer does not let this peer in; it will not come back by itself.
    case refused(Refused)
    /// The loop has ended.
    case loopEnded(exitCode: Int32, text: String)
    /// Everything is handed back and known: the process may go.
    case finished
}

/// What became of the wish to send.
public enum SendResult: Equatable, Sendable {
    /// It stands in the outbox under this number.
    case accepted(number: UInt64)
    /// The outbox is full: try again after `PeerAction.hasSpace`.
    case full
    /// The event is not accepted, and sending it again does not help.
    case refused(SendRefusal)
}
