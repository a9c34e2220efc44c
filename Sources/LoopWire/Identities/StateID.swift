public import LoopCore

/// The name of one state of a loop: a seq, in the history and the epoch in which a reducer reported it.
///
/// A seq alone names no state: after `trim --after 4` another event becomes seq 5. Code that compares states compares these.
public struct StateID: Hashable, Codable, Sendable, CustomStringConvertible {
    /// The history of the journal that has the state.
    public var history: History
    /// An epoch whose reducer has reported the state: every event up to `seq` was in its journal.
    public var epoch: Epoch
    /// The seq of the transition that made the state; ``/LoopCore/Seq/initial`` for the state before the first event.
    public var seq: Seq

    /// Creates the name of a state from its parts.
    public init(history: History, epoch: Epoch, seq: Seq) {
        self.history = history
        self.epoch = epoch
        self.seq = seq
    }

    /// The ID of no state.
    public static let none = StateID(history: .none, epoch: .none, seq: .initial)

    /// The seq with its epoch and history, for people.
    public var description: String { "seq \(seq) of epoch \(epoch) of history \(history)" }

    /// Whether both are of one epoch of one history.
    public func isOfTheEpoch(of other: StateID) -> Bool { history == other.history && epoch == other.epoch }

    /// The relation of a known state to a wanted one.
    public enum Relation: Equatable, Sendable {
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
    public func relation(to wanted: StateID) -> Relation {
        guard history == wanted.history else { return .unrelated }
        if epoch.number > wanted.epoch.number { return seq >= wanted.seq ? .reached : .lost }
        if epoch.number < wanted.epoch.number { return .before }
        guard epoch == wanted.epoch else { return .unrelated }
        return seq >= wanted.seq ? .reached : .before
    }
}
