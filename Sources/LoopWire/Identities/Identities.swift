public import LoopCollections
public import LoopCore

/// One life of a journal: 8 random bytes made with it. A memory journal has a new one at each start.
package struct History: Hashable, Codable, Sendable, CustomStringConvertible {
    /// The random number; 0 only in ``none``.
    package var value: UInt64

    /// Creates a history from its number on the wire.
    package init(_ value: UInt64) { self.value = value }

    /// No history: the value before one is known.
    package static let none = History(0)

    /// 16 hexadecimal digits, as the status and `loopctl` show them.
    package var description: String { hexadecimal(value) }
}

/// One start of a reducer on a journal. The number grows in the journal; the nonce distinguishes a copied journal.
package struct Epoch: Hashable, Codable, Sendable, CustomStringConvertible {
    /// Grows with each start of a reducer on the same journal, from 1; 0 only in ``none``.
    package var number: UInt64
    /// Random for each start. Two epochs with the same number and different nonces belong to a journal and its copy.
    package var nonce: UInt64

    /// Creates an epoch from its parts.
    package init(number: UInt64, nonce: UInt64) {
        self.number = number
        self.nonce = nonce
    }

    /// No epoch: the value before one is known, below all others.
    package static let none = Epoch(number: 0, nonce: 0)

    /// The number alone, for people; the nonce is left out.
    package var description: String { "\(number)" }
}

/// 16 random bytes of a process, which name its inbox topic and nothing else.
package struct PeerID: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    /// The first 8 of the 16 bytes in a topic.
    package var high: UInt64
    /// The last 8 of the 16 bytes in a topic.
    package var low: UInt64

    /// Creates a peer ID from its halves. Random halves make a new peer; those of ``local`` are reserved.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The peer in the reducer's own process. It has one session in a history, whichever process keeps the journal.
    package static let local = PeerID(high: 0x6c6f_6361_6c00_0000, low: 0)

    /// A fixed order of peers, by `high` and then `low`, which is the same in every process. It has no other meaning.
    package static func < (a: PeerID, b: PeerID) -> Bool { (a.high, a.low) < (b.high, b.low) }

    /// The first 8 hexadecimal digits, enough for people.
    package var description: String { String(hexadecimal(high).prefix(8)) }
}

/// The number of a sender's stream of entries. The reducer grants and journals it, and never reuses it in a history.
@usableFromInline package struct SessionID: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    /// The number that the reducer granted, from 1; 0 only in ``none``.
    @usableFromInline package var value: UInt64

    /// Creates a session ID from its number on the wire.
    package init(_ value: UInt64) { self.value = value }

    /// No session: the value before one is granted.
    package static let none = SessionID(0)

    /// Orders sessions by their grant: the lower number was granted earlier.
    @usableFromInline package static func < (a: SessionID, b: SessionID) -> Bool { a.value < b.value }

    /// The number in decimal digits, for people.
    @usableFromInline package var description: String { "\(value)" }
}

/// A hash. It needs no protection from chosen keys, because the reducer assigns the numbers in sequence.
extension SessionID: MixedKey {
    @inlinable package var mixed: UInt64 { Mix.finish(value) }
}

/// One try of an effect by one worker. `count` counts all grants of the epoch, so an attempt is never repeated.
package struct Attempt: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    /// The number of the epoch in which the attempt was granted, from 1.
    package var epoch: UInt64
    /// The number of the grant among all grants of its epoch, from 1.
    package var count: UInt64

    /// Creates an attempt from its parts.
    @inlinable package init(epoch: UInt64, count: UInt64) {
        self.epoch = epoch
        self.count = count
    }

    /// Below every attempt; as a floor it voids none.
    package static let none = Attempt(epoch: 0, count: 0)

    /// Orders attempts by their grant: an attempt of an earlier epoch is below all of a later one.
    @inlinable package static func < (a: Attempt, b: Attempt) -> Bool { (a.epoch, a.count) < (b.epoch, b.count) }

    /// Written out, because other modules cannot inline what the compiler derives.
    @inlinable package static func == (a: Attempt, b: Attempt) -> Bool { (a.epoch, a.count) == (b.epoch, b.count) }

    /// Epoch and count, such as `3/27`, as the journal's tools show them.
    package var description: String { "\(epoch)/\(count)" }
}

/// The outcome of one numbered entry.
package enum EntryOutcome: Equatable, Sendable {
    /// Applied. `seq` is the transition, or `.initial` if the sender did not request it.
    case applied(Seq)
    /// Consumed without being applied, for this reason.
    case refused(SendRefusal.Reason)
}

/// An outcome that a sender must know individually: a refusal, or the seq that the sender requested.
package struct NotableOutcome: Equatable, Sendable {
    /// The number of the entry in its session, from 1.
    package var number: UInt64
    /// The refusal, or the seq of the transition.
    package var outcome: EntryOutcome

    /// Creates an outcome from its parts.
    package init(number: UInt64, outcome: EntryOutcome) {
        self.number = number
        self.outcome = outcome
    }

    /// The size of one in a message.
    package static var byteCount: Int { 17 }
}

/// The name of one state of a loop: a seq, in the history and the epoch in which a reducer reported it.
///
/// A seq alone names no state: after `trim --after 4` another event becomes seq 5. Code that compares states compares these.
public struct StateID: Hashable, Codable, Sendable, CustomStringConvertible {
    /// The history of the journal that has the state.
    package var history: History
    /// An epoch whose reducer has reported the state: every event up to `seq` was in its journal.
    package var epoch: Epoch
    /// The seq of the transition that made the state; ``/LoopCore/Seq/initial`` for the state before the first event.
    public var seq: Seq

    /// Creates the name of a state from its parts.
    package init(history: History, epoch: Epoch, seq: Seq) {
        self.history = history
        self.epoch = epoch
        self.seq = seq
    }

    /// The ID of no state.
    public static let none = StateID(history: .none, epoch: .none, seq: .initial)

    /// The seq with its epoch and history, for people.
    public var description: String { "seq \(seq) of epoch \(epoch) of history \(history)" }

    /// Whether both are of one epoch of one history.
    package func isOfTheEpoch(of other: StateID) -> Bool { history == other.history && epoch == other.epoch }

    /// The relation of a known state to a wanted one.
    package enum Relation: Equatable, Sendable {
        /// The known state is the wanted one or a later one.
        case reached
        /// A later state may be the wanted one.
        case before
        /// The wanted state is lost: the known state is of a later epoch, whose journal ended before the wanted seq.
        case lost
        /// The states are of different histories, or of two copies of a journal: their seqs do not compare.
        case unrelated
    }

    /// Compares this known state with a wanted one.
    package func relation(to wanted: StateID) -> Relation {
        guard history == wanted.history else { return .unrelated }
        if epoch.number > wanted.epoch.number { return seq >= wanted.seq ? .reached : .lost }
        if epoch.number < wanted.epoch.number { return .before }
        guard epoch == wanted.epoch else { return .unrelated }
        return seq >= wanted.seq ? .reached : .before
    }
}
