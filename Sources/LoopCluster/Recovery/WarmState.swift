package import LoopCore
import LoopWire

/// The state that a journal determines up to the end of a row. A new leader continues from it, if the journal has that very row.
///
/// A reducer whose journal has failed keeps its state. The state may be ahead of the journal by records that have no receipt.
/// Each of these is in the journal, or this process can append it in its next term, if no other process has appended since.
///
///     journal:  ── row ── row ─┤ end          state:  ── row ── row ─┤ end ── ahead ──▶
package struct WarmState: Sendable {
    package let journaled: JournaledState
    /// The row that the journal must have.
    package let end: RowEnd
    /// The history that the journal began with.
    let history: History
    /// The records of the state after that row, which have no receipt.
    package let ahead: [Record]

    /// The seq of the state.
    package var seq: Seq { journaled.seq }

    /// How far the journal was followed, without the records that have no receipt.
    package var followed: FollowedEnd {
        FollowedEnd(
            end: end, seq: Seq(journaled.seq.value - RecordLog(ahead).eventsCount), history: journaled.history)
    }

    init(_ journaled: JournaledState, at end: RowEnd, of history: History, ahead: [Record] = []) {
        var journaled = journaled
        journaled.note = nil
        self.journaled = journaled
        self.end = end
        self.history = history
        self.ahead = ahead
    }

    /// Takes the state of a machine that writes no more. It is nil if records are missing between the journal and `ahead`, or
    /// if the journal cannot be followed.
    /// - Parameters:
    ///   - journal: the journal that the machine wrote, which may have failed.
    ///   - ahead: the newest records of the machine, in order, with all that the journal may lack.
    package init?(of journaled: JournaledState, at journal: any Journal, ahead: [Record] = []) {
        guard let end = (journal as? any FollowedJournal)?.newestEnd,
            journaled.position >= end.position, journaled.position - end.position <= UInt64(ahead.count)
        else { return nil }
        let count = Int(journaled.position - end.position)
        self.init(journaled, at: end, of: journal.history, ahead: Array(ahead.suffix(count)))
    }

    /// How a journal continues a warm state.
    enum Continuation {
        /// The journal does not continue the state, for this reason.
        case refused(String)
        /// The journal continues the state once these records are appended, the newest of those that are ahead. There may be none.
        case lacks([Record])
    }

    /// Compares the state with a journal.
    func continuation(in journal: any Journal) throws(JournalError) -> Continuation {
        guard let followed = journal as? any FollowedJournal else {
            return .refused("this journal cannot be followed")
        }
        guard journal.history == history else { return .refused("the journal is of another history") }
        guard try followed.end(ofRowAt: end.position) == end else {
            return .refused("the journal does not have record \(end.position) as it was followed")
        }
        var lacking = ahead[...]
        while !lacking.isEmpty {
            let page = try journal.records(after: journaled.position - UInt64(lacking.count), bytesMax: 1 << 20)
            if page.isEmpty { break }
            guard let rest = Self.rest(of: lacking, behind: page) else {
                return .refused("the journal has other records behind record \(end.position)")
            }
            lacking = rest
        }
        return .lacks(Array(lacking))
    }

    /// The records of `ahead` that follow those that were found in a journal.
    /// - Returns: the records, or nil if the journal has other ones instead.
    package static func rest(of ahead: ArraySlice<Record>, behind found: [Record]) -> ArraySlice<Record>? {
        let count = min(ahead.count, found.count)
        return ahead.prefix(count).elementsEqual(found.prefix(count)) ? ahead.dropFirst(count) : nil
    }
}
