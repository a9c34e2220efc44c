package import LoopCore
package import LoopWire

/// The identity of a peer, and its limits.
package struct PeerConfiguration: Sendable {
    /// The ID under which the peer joins; unique in the loop.
    package var peer: PeerID
    /// The loop's name; empty for a tool that works with any loop.
    package var loop: String
    /// The schema; 0 for a tool that works with any schema.
    package var schema: UInt64
    /// The definition's fingerprint; 0 for a peer without a definition.
    package var fingerprint: UInt64
    /// The definition's feedbacks as "name@placement"; empty for a peer without a definition.
    package var feedbacks: [String]
    /// The groups of effects that the peer serves; empty for a peer that only sends.
    package var groups: [String]
    /// How many effects the peer may have at once.
    package var capacity: Int
    /// A name for people.
    package var name: String
    /// How many entries may wait for their outcome. By default 8192, and four more for each effect of the capacity.
    package var outboxEntriesMax: Int
    /// How many of them are reserved for the ends of effects.
    package var outboxEntriesReserved: Int
    /// How many bytes of entries may wait for their outcome.
    package var outboxBytesMax: Int
    /// How often a step of the join request or a request is repeated until it is answered.
    package var repeatInterval: Duration
    /// The addresses at which the leader may be found, in the order in which they are tried, as the shell dials them. There are at
    /// most ``LeaderSearch/placesMax``, and none if the shell knows the only one.
    package var places: [String] = []
    /// The largest payload of one message of claims, in bytes; well below the limit of the wire.
    package var payloadBytesMax = Wire.messageBytesMax / 2

    /// Creates a configuration from its parts. Without the optional ones it is for a sender without a definition.
    package init(
        peer: PeerID, loop: String, schema: UInt64 = 0, fingerprint: UInt64 = 0, feedbacks: [String] = [],
        groups: [String] = [],
        capacity: Int = 0, name: String = "", outboxEntriesMax: Int? = nil, outboxEntriesReserved: Int = 512,
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
        self.outboxEntriesMax = outboxEntriesMax ?? 8192 + 4 * capacity
        self.outboxEntriesReserved = outboxEntriesReserved
        self.outboxBytesMax = outboxBytesMax
        self.repeatInterval = repeatInterval
    }
}

/// An action that a peer's machine asks of its shell.
package enum PeerAction: Equatable, Sendable {
    /// Send a message to the reducer over DEALER.
    case send(ToReducer)
    /// Dial the reducer at this address, which is greeted next. All later messages go there, and nowhere else.
    case dial(String)
    /// Look up again the addresses of names, because a walk through all addresses has found no leader.
    case lookUp
    /// Connect, with new sockets, to the reducer's publisher and collector, and subscribe to the inbox.
    case connect(Introduction)
    /// Dial the present address again, because it answered no greeting.
    case redial
    /// Build a new PUSH socket, because the old one takes nothing, or does not deliver.
    case rebuildPush
    /// Run the body of an effect.
    case run(Grant)
    /// Pass a newer request to a running effect.
    case update(EffectID, Attempt, request: [UInt8])
    /// Cancel the body of an effect.
    case stop(EffectID, Attempt)
    /// Report an entry's outcome. This comes for every refused entry, and for those whose sender waits for the seq. The detail
    /// is the reason in words, or empty if it is not known.
    case settled(number: UInt64, EntryOutcome, detail: String = "")
    /// Report the answer of an entry that was applied at this seq. If the answer is nil, it is no longer kept, and the seq may
    /// be `.initial`.
    case answered(number: UInt64, Seq, EntryAnswer?)
    /// Report that the outbox has space again.
    case hasSpace
    /// Report why the reducer does not admit this peer for now. The peer asks again by itself, and is admitted when it joins.
    case keptWaiting(reason: String)
    /// Report that the reducer refuses this peer for good.
    case refused(Refused)
    /// Report that the loop has ended.
    case loopEnded(exitCode: Int32, text: String)
    /// Report that everything is handed back and settled, so that the process may end.
    case finished
}

/// The result of sending an event.
package enum SendResult: Equatable, Sendable {
    /// The event is in the outbox under this number.
    case accepted(number: UInt64)
    /// The outbox is full: try again after `PeerAction.hasSpace`.
    case full
    /// The event is not accepted, and sending it again does not help.
    case refused(SendRefusal)
}
