package import LoopCluster
package import LoopCore
package import LoopWire

/// What the project promises (docs, "Promises"), as far as the simulator can watch it.
package enum Promise: String, CaseIterable, Sendable {
    case oneOrder = "G1"
    case nothingLost = "G3"
    case nothingTwice = "G4"
    case nothingStale = "G5"
    case oneOwner = "G6"
    case durableBeforeVisible = "G7"
    case replayIsExact = "G8"
    case observersConverge = "G9"
    case bounded = "G10"
    case progress = "PROGRESS"
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
    package var id: UInt64
    /// The position of the sender among all processes that ever were.
    package var peer: Int
    package var kind: Entry.Kind
    package var effect: EffectID?
    package var attempt: Attempt
    /// The position among the entries of its attempt.
    package var index: Int
    package var event: SlotEvent?
    package var wantsSeq: Bool
}

/// What a run shows to the checkers, in the order in which it happened.
package enum Observation: Sendable {
    /// A journal was begun.
    case began(History)
    /// A record became durable.
    case journaled(History, Record)
    /// A frame left the reducer.
    case left(Outbound)
    /// A sender's entry was accepted into its outbox.
    case accepted(SentEntry)
    /// An entry was handed to a socket, maybe again.
    case sent(History, SessionID, number: UInt64, id: UInt64)
    /// A sender learned what became of its entry.
    case told(id: UInt64, EntryOutcome)
    /// A process died; what it had accepted is nobody's any more.
    case died(peer: Int)
    /// A worker began an attempt.
    case ran(peer: Int, History, Grant)
    /// The reducer stands between two turns; everything it did is durable.
    case rested(ReducerSummary)
    /// The sizes of a peer's queues.
    case measured(entries: Int, entriesMax: Int, lag: UInt64, lagMax: UInt64)
    /// The run has settled.
    case settled
}

/// What a reducer holds that its journal must give again.
package struct ReducerSummary: Equatable, Sendable {
    package var history: History
    package var state: SlotState
    package var seq: Seq
    package var time: WallTime
    package var epoch: Epoch
    package var effects: [EffectID: LiveEffect]
    package var watermarks: [SessionID: UInt64]

    package init(_ core: JournaledState<SlotLoop>) {
        history = core.history
        state = core.state
        seq = core.seq
        time = core.time
        epoch = core.epoch
        effects = core.effects
        watermarks = core.sessions.mapValues(\.watermark)
    }
}

/// Watches for one promise. Each is written from the promise alone, not from the machines.
package protocol Checker: Sendable {
    static var promise: Promise { get }
    /// How often something was compared.
    var checkCount: Int { get }
    mutating func observe(_ observation: Observation) throws(Violation)
}
