package import LoopCluster
package import LoopCore
package import LoopKeys
package import LoopWire

/// What the project promises (docs, "Promises"), as far as the simulator can watch it.
package enum Promise: String, CaseIterable, Sendable {
    case oneOrder = "G1"
    case snapshotComesFirst = "G2"
    case nothingLost = "G3"
    case nothingTwice = "G4"
    case nothingStale = "G5"
    case oneOwner = "G6"
    case durableBeforeVisible = "G7"
    case replayIsExact = "G8"
    case observersConverge = "G9"
    case bounded = "G10"
    case poisonIsSetAside = "G11"
    case onlyWhoMay = "G12"
    case progress = "PROGRESS"
    case inTime = "G15"
    /// Who asks is answered by the state after its event.
    case answersAreTrue = "ANSWERS"
    /// What a test demands of its own loop's states.
    case invariant = "INVARIANT"
    /// A test that cannot be run as it is.
    case usage = "TEST"

    /// Those that the project makes.
    static let own = allCases.filter { $0 != .invariant && $0 != .usage }
}

/// A promise that was broken, and how.
package struct Violation: Error, Equatable, Sendable, CustomStringConvertible {
    package var promise: Promise
    package var what: String

    package init(_ promise: Promise, _ what: String) {
        self.promise = promise
        self.what = what
    }

    package var description: String { "\(promise.rawValue): \(what)" }
}

/// One numbered entry that a sender accepted, with what only the simulator knows of it.
package struct SentEntry: Equatable, Sendable {
    /// Counts the accepted entries of a run, from 1.
    package var id: Int
    /// The position of the sender among all processes that ever were.
    package var peer: Int
    package var kind: Entry.Kind
    package var effect: EffectID?
    package var attempt: Attempt
    /// The position among the entries of its attempt.
    package var index: Int
    /// The encoded event, where only the sender's side knows it.
    package var payload: ArraySlice<UInt8>?
    package var wantsSeq: Bool
    package var wantsAnswer = false
}

/// The session of a peer in a history. Where records are lost, another peer may get the same number.
package struct PeerSession: Hashable, Sendable {
    package var history: History
    package var session: SessionID
    package var peer: PeerID
}

/// A record that became durable, with its history and the entry that it consumes.
package struct JournaledRecord: Sendable {
    package var history: History
    package var record: Record
    /// The entry that it consumes, if its sender is known.
    package var entry: SentEntry?
}

/// What a run reports to the checkers, in the order in which it happened.
package enum Observation: Sendable {
    /// A journal was begun.
    case began(History)
    case journaled(JournaledRecord)
    /// Records that were not promised to last are gone from the journal's end.
    case lost([JournaledRecord])
    /// An operator asks to have an event applied that was set aside.
    case retried(quarantined: UInt64)
    /// The reducer's process ended in the reduction of an entry's event, by the event's fault or by chance.
    case trapped(entry: Int, isItsFault: Bool)
    /// The same, in the event of a timer.
    case trappedInTimer(EffectID, isItsFault: Bool)
    /// It ended in an event that was set aside, and that an operator wanted.
    case trappedAgain(quarantined: UInt64)
    /// An observer learned that the loop has ended.
    /// - Parameters:
    ///   - seq: of the last state.
    ///   - mustBeThere: whether it must have reached that state; false once the time is over in which it may wait.
    case observedEnd(peer: Int, History, seq: Seq, mustBeThere: Bool)
    /// A join request reached the reducer.
    case askedToJoin(JoinRequest)
    /// A frame left the reducer.
    case left(Outbound)
    /// A sender's entry was accepted into its outbox.
    case accepted(SentEntry)
    /// A process continues the session of one that is gone, after this number. What that one sent beyond it is gone too.
    case goesOn(History, SessionID, after: UInt64)
    /// Entries were handed to a socket, possibly again: their ids, in the order of their numbers.
    case sent(PeerSession, first: UInt64, ids: ArraySlice<Int>)
    /// A sender learned the outcome of its entry.
    /// - Parameters:
    ///   - detail: why it was refused, in words; empty: the sender was not told.
    ///   - isUnheard: no reducer has reported it, and none is heard that could.
    case told(id: Int, EntryOutcome, detail: String, isUnheard: Bool)
    /// A sender learned the answer to its entry; nil: it is kept no longer.
    case answered(id: Int, EntryAnswer?)
    /// A process has said goodbye, and its session ends. Nothing may be sent in it from here on.
    case saidGoodbye(PeerSession)
    /// A process continues with entries that an earlier one left on disk.
    case inherited(ids: [Int], peer: Int)
    /// A process died; no process owns the entries that it had accepted.
    case died(peer: Int)
    /// A process has left by itself, because the loop has ended or it was asked to leave.
    case departed(peer: Int)
    /// An observer begins.
    case watches(peer: Int, SimulationPlan.Watched)
    /// The state in an observer's memory was changed.
    case damaged(peer: Int)
    /// It has noticed the damage: what it shows from here on is right.
    case repaired(peer: Int)
    /// An observer follows another history, or has gone back to an older epoch of the one that it follows, because nothing else is
    /// heard: a journal was restored. It begins again.
    case beganAnew(peer: Int)
    /// An observer follows another epoch from here on: the journal may have lost what it has shown of earlier ones.
    case beganEpoch(peer: Int)
    /// What an observer shows, by a frame of this history.
    case shown(peer: Int, History, ObserverAction)
    /// A worker did not claim an attempt that it has.
    case forgotten(History, EffectID, Attempt)
    /// A worker began an attempt.
    case ran(peer: Int, History, Grant)
    /// A turn of the reducer begins.
    case turnBegan(TurnProgress)
    /// The records of a turn are durable.
    case turnEnded
    /// The reducer was told which keys are admitted.
    case keysAdmitted(AllowedKeys)
    /// The reducer's machine was handed something: how far its turn had come before and after it.
    case judged(Heard, by: Principal, from: TurnProgress, to: TurnProgress)
    /// A frame of a peer's inbox reaches a connection of this key.
    case overheard(inboxOf: PeerID, by: PublicKey)
    /// The sizes of a peer's queues.
    case measured(entries: Int, entriesMax: Int, lag: UInt64, lagMax: UInt64)
    /// How much a queue of the reducer holds, and how much it may.
    case queued(QueueMeasure, max: Int)
    /// The run has settled.
    case settled
}

/// Checks one promise. Each is written from the promise alone, independently of the machines.
package protocol Checker: Sendable {
    static var promise: Promise { get }
    /// The number of comparisons.
    var checkCount: Int { get }
}
