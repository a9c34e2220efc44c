public import LoopCore
import LoopWire

/// What a journal determines up to the end of a row: a reducer that comes to lead goes on from it, if the journal has that very row.
public struct WarmState<Definition: LoopDefinition>: Sendable {
    let core: JournaledState<Definition>
    /// The row on which it stands.
    package let end: RowEnd
    /// The history that the journal began with.
    let history: History

    /// The seq of the state.
    public var seq: Seq { core.seq }

    init(_ core: JournaledState<Definition>, at end: RowEnd, of history: History) {
        var core = core
        core.note = nil
        self.core = core
        self.end = end
        self.history = history
    }

    /// The state of a machine that has written the newest row of a journal, and writes no other.
    /// - Returns: nil: the state is not that of the journal's end, or the journal cannot be followed.
    package init?(of core: JournaledState<Definition>, at journal: any Journal) {
        guard core.position == journal.position, let followed = journal as? any FollowedJournal,
            let end = try? followed.end(ofRowAt: core.position)
        else { return nil }
        self.init(core, at: end, of: journal.history)
    }

    /// Why a journal does not continue it; nil: it does.
    func refusal(by journal: any Journal) throws(JournalError) -> String? {
        guard let followed = journal as? any FollowedJournal else { return "this journal cannot be followed" }
        guard journal.history == history else { return "the journal is of another history" }
        guard try followed.end(ofRowAt: end.position) == end else {
            return "the journal does not have record \(end.position) as it was followed"
        }
        return nil
    }
}
