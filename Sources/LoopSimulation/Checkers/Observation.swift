package import LoopCluster
package import LoopCore
package import LoopKeys
package import LoopWire

/// The promises of the project (docs, "Promises"), as far as the simulator can observe them.
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
    /// A sender that asks gets the answer from the state after its event.
    case answersAreTrue = "ANSWERS"
    /// A test's condition for the states of its own loop.
    case invariant = "INVARIANT"
    /// A mistake in a test, which cannot be run.
    case usage = "TEST"

    /// The promises that the project makes.
    static let own = allCases.filter { $0 != .invariant && $0 != .usage }
}

/// A broken promise, and how it was broken.
package struct Violation: Error, Equatable, Sendable, CustomStringConvertible {
    package var promise: Promise
    package var what: String

    package init(_ promise: Promise, _ what: String) {
        self.promise = promise
        self.what = what
    }

    package var description: String { "\(promise.rawValue): \(what)" }
}

/// One numbered entry that a sender accepted, with data that only the simulator has.
package struct SentEntry: Equatable, Sendable {
    /// The number of the entry among all accepted entries of a run, from 1.
    package var id: Int
    /// The position of the sender among all processes of the run.
    package var peer: Int
    package var kind: Entry.Kind
    package var effect: EffectID?
    package var attempt: Attempt
    /// The position among the entries of its attempt.
    package var index: Int
    /// The encoded event, if only the sender's side knows it.
    package var payload: ArraySlice<UInt8>?
    package var wantsSeq: Bool
    package var wantsAnswer = false
}

/// The session of a peer in a history. After a loss of records, another peer may get an equal number.
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
    /// A journal begins.
    case began(History)
    case journaled(JournaledRecord)
    /// Records of the journal's end are lost whose durability was not promised.
    case lost([JournaledRecord])
    /// An operator retries an event that was set aside.
    case retried(quarantined: UInt64)
    /// The reducer's process ended in the reduction of an entry's event, by the event's fault or by chance.
    case trapped(entry: Int, isItsFault: Bool)
    /// The reducer's process ended in the reduction of a timer's event.
    case trappedInTimer(EffectID, isItsFault: Bool)
    /// The reducer's process ended in an event that was set aside, and that an operator has retried.
    case trappedAgain(quarantined: UInt64)
    /// An observer learned that the loop has ended.
    /// - Parameters:
    ///   - seq: the seq of the last state.
    ///   - mustBeThere: whether the observer must have reached that state. False once its time for that is over.
    case observedEnd(peer: Int, History, seq: Seq, mustBeThere: Bool)
    /// A join request reached the reducer.
    case askedToJoin(JoinRequest)
    /// A frame left the reducer.
    case left(Outbound)
    /// A sender's entry was accepted into its outbox.
    case accepted(SentEntry)
    /// A process continues the session of an ended process, after this number. Everything that the ended one sent beyond it is
    /// lost.
    case goesOn(History, SessionID, after: UInt64)
    /// Entries were passed to a socket, perhaps again. The ids are in the order of their numbers.
    case sent(PeerSession, first: UInt64, ids: ArraySlice<Int>)
    /// A sender learned the outcome of its entry.
    /// - Parameters:
    ///   - detail: the reason for a refusal, in words, or empty if the sender did not receive it.
    ///   - isUnheard: whether no reducer has reported the outcome, and none is there that could.
    case told(id: Int, EntryOutcome, detail: String, isUnheard: Bool)
    /// A sender learned the answer to its entry, or that the answer is no longer kept.
    case answered(id: Int, EntryAnswer?)
    /// A process has said goodbye, and its session ends. Nothing may be sent in it from now on.
    case saidGoodbye(PeerSession)
    /// A process continues with entries that an earlier one left on disk.
    case inherited(ids: [Int], peer: Int)
    /// A process died. No process has the entries that it had accepted.
    case died(peer: Int)
    /// A process has left by itself, because the loop has ended or because of a request to leave.
    case departed(peer: Int)
    /// An observer begins.
    case watches(peer: Int, SimulationPlan.Watched)
    /// The state in an observer's memory was changed.
    case damaged(peer: Int)
    /// An observer has noticed the damage. What it shows from now on is right.
    case repaired(peer: Int)
    /// An observer follows another history, or an older epoch of its history, because nothing else arrives. A journal was put back.
    /// The observer begins again.
    case beganAnew(peer: Int)
    /// An observer follows another epoch from now on. The journal may have lost what it has shown of earlier ones.
    case beganEpoch(peer: Int)
    /// What an observer shows, because of a frame of this history.
    case shown(peer: Int, History, ObserverAction)
    /// A worker did not claim an attempt that it has.
    case forgotten(History, EffectID, Attempt)
    /// A worker began an attempt.
    case ran(peer: Int, History, Grant)
    /// A turn of the reducer begins.
    case turnBegan(TurnProgress)
    /// The records of a turn are durable.
    case turnEnded
    /// The reducer has read which keys are admitted.
    case keysAdmitted(AllowedKeys)
    /// The reducer's machine received something. The progress of its turn is that before and after it.
    case judged(Heard, by: Principal, from: TurnProgress, to: TurnProgress)
    /// A frame of a peer's inbox reaches a connection of this key.
    case overheard(inboxOf: PeerID, by: PublicKey)
    /// The sizes of a peer's queues.
    case measured(entries: Int, entriesMax: Int, lag: UInt64, lagMax: UInt64)
    /// The present length of a queue of the reducer, and its limit.
    case queued(QueueMeasure, max: Int)
    /// The run has settled.
    case settled
}

/// Checks one promise. Each checker is written from the promise alone, independently of the machines.
package protocol Checker: Sendable {
    static var promise: Promise { get }
    /// The number of comparisons.
    var checkCount: Int { get }
}
