package import LoopCluster
internal import LoopNode
internal import LoopPostgres

/// A journal in a database, for programs of other packages that measure it alone.
package enum MeasuredJournal {
    /// Opens a loop's journal for writing, or makes one.
    /// - Parameter url: of a database with the tables of journals.
    /// - Throws: `JournalError`, and `JournalPlaceError` where the URL cannot be read.
    package static func open(_ url: String, loop: String) throws -> any Journal {
        try JournalPlace(url, engines: [.postgres]).open(
            JournalPlace.Opening(loop: loop, durability: .fsync, waits: false, isStopping: { false }, note: { _ in }))
    }
}
