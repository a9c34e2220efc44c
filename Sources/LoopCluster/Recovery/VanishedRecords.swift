package import LoopCore
package import LoopWire

/// How far a process has followed a journal.
package struct FollowedEnd: Equatable, Sendable {
    /// The end of the newest row that was seen in the journal.
    let end: RowEnd
    /// The seq of the state up to there.
    let seq: Seq
    /// The present history of that state.
    let history: History
}

/// Records that this process had followed, and that the journal lacked when the process began to lead.
package struct VanishedRecords: Equatable, Sendable, CustomStringConvertible {
    private let followed: FollowedEnd
    /// The position at which the journal ended.
    private let position: UInt64
    /// The seq at which the journal ended.
    private let seq: Seq
    /// The time at which the process began to lead.
    let time: Moment

    /// Compares what was followed with the journal. It is nil if nothing has vanished, or if that cannot be known because
    /// records were trimmed or a new history has begun.
    /// - Parameters:
    ///   - journal: the journal that this process owns. A journal that is only read may be an old copy.
    ///   - seq: the seq of the state at its end.
    ///   - history: the present history of that state.
    ///   - now: the present time.
    package init?(
        _ followed: FollowedEnd, in journal: any Journal, seq: Seq, history: History, at now: Moment
    ) throws(JournalError) {
        guard history == followed.history, let journal = journal as? any FollowedJournal,
            try journal.end(ofRowAt: followed.end.position) != followed.end,
            try !journal.isTrimmed(beyond: followed.seq)
        else { return nil }
        self.followed = followed
        position = journal.position
        self.seq = seq
        time = now
    }

    /// One line for people, which says which records are gone, and since when.
    package var description: String {
        let what =
            if seq < followed.seq {
                Self.text("events", seq.value + 1, followed.seq.value)
            } else if position < followed.end.position {
                Self.text("records", position + 1, followed.end.position)
            } else {
                "record \(followed.end.position), at seq \(followed.seq), in whose place is another one"
            }
        return
            "RECORDS ARE GONE that this reducer had followed, and that may have been acknowledged: \(what). The journal lacked them"
            + " when the reducer began to lead, at \(time.wall.civilText), as after a failover of the database that loses records"
    }

    private static func text(_ kind: String, _ first: UInt64, _ last: UInt64) -> String {
        first == last ? "\(kind.dropLast()) \(first)" : "\(kind) \(first) to \(last)"
    }
}

extension FollowedJournal {
    /// Whether rows that end with this seq were trimmed.
    func isTrimmed(beyond seq: Seq) throws(JournalError) -> Bool {
        if try hasFirstRecord() { return false }
        return try firstSeq().map { $0 > seq } ?? true
    }
}
