/// What only the shell knows, as of a turn.
package struct ShellFacts: Sendable {
    /// How many connections are open, and how many may be.
    package var connections: (count: Int, max: Int)?
    /// The lease of the journal, if it has one.
    package var journalLease: JournalLease?
    /// The records that had vanished when the process began to lead, or nil if none had.
    package var vanished: VanishedRecords?
    /// The size of the journal's log in bytes if a reader has made it grow, or nil if no reader is in the way.
    package var heldLogBytes: Int?
    /// Whether the sockets have unread batches. If so, it is not known what was lost.
    package var hasUnreadBatches = false

    /// Creates the facts of a shell that knows nothing else.
    package init(hasUnreadBatches: Bool = false) { self.hasUnreadBatches = hasUnreadBatches }
}
