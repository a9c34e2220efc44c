public import LoopCore

/// One life of a journal: 8 random bytes made with it. A memory journal has a new one at each start.
public struct History: Hashable, Codable, Sendable, CustomStringConvertible {
    public var value: UInt64

    public init(_ value: UInt64) { self.value = value }

    /// Stands where no history is known yet.
    public static let none = History(0)

    public var description: String { hexadecimal(value) }
}

/// One incarnation of the reducer's leadership. The number grows in the journal; the nonce tells a copied journal.
public struct Epoch: Hashable, Codable, Sendable, CustomStringConvertible {
    public var number: UInt64
    public var nonce: UInt64

    public init(number: UInt64, nonce: UInt64) {
        self.number = number
        self.nonce = nonce
    }

    /// Stands where no epoch is known yet.
    public static let none = Epoch(number: 0, nonce: 0)

    public var description: String { "\(number)" }
}

/// 16 random bytes of a process: names its inbox topic and nothing else.
public struct PeerID: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    public var high: UInt64
    public var low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The peer in the reducer's own process. It has one session in a history, whichever process keeps the journal.
    public static let local = PeerID(high: 0x6c6f_6361_6c00_0000, low: 0)

    public static func < (a: PeerID, b: PeerID) -> Bool { (a.high, a.low) < (b.high, b.low) }

    /// The first 8 hexadecimal digits, enough for people.
    public var description: String { String(hexadecimal(high).prefix(8)) }
}

/// A sender's numbered stream of entries at the reducer: granted and journaled there, never reused in a history.
public struct SessionID: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    public var value: UInt64

    public init(_ value: UInt64) { self.value = value }

    /// Stands where no session was granted.
    public static let none = SessionID(0)

    public static func < (a: SessionID, b: SessionID) -> Bool { a.value < b.value }

    public var description: String { "\(value)" }
}

/// One try of an effect by one worker: `count` counts all grants of that epoch, so an attempt is never repeated.
public struct Attempt: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    public var epoch: UInt64
    public var count: UInt64

    public init(epoch: UInt64, count: UInt64) {
        self.epoch = epoch
        self.count = count
    }

    /// Below every attempt; as a floor it voids none.
    public static let none = Attempt(epoch: 0, count: 0)

    public static func < (a: Attempt, b: Attempt) -> Bool { (a.epoch, a.count) < (b.epoch, b.count) }

    public var description: String { "\(epoch)/\(count)" }
}

/// What became of one numbered entry.
public enum EntryOutcome: Equatable, Sendable {
    /// Applied; `seq` is the transition, or `.initial` where the sender did not ask for it.
    case applied(Seq)
    case refused(SendRefusal.Reason)
}

/// One outcome that a sender must be told in particular: a refusal, or the seq it asked for.
public struct NotableOutcome: Equatable, Sendable {
    public var number: UInt64
    public var outcome: EntryOutcome

    public init(number: UInt64, outcome: EntryOutcome) {
        self.number = number
        self.outcome = outcome
    }

    /// How many bytes one takes in a message.
    package static var byteCount: Int { 17 }
}
