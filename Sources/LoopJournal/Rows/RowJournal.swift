package import LoopCluster

/// A journal whose records are in rows, whether in a file or in a database.
package protocol RowJournal: FollowedJournal {
    /// Reads the rows, and knows their first and last positions.
    var reader: RowReader { get }

    /// Finds what the writing process has appended and trimmed since the last call, if this one only reads.
    /// - Returns: whether the path or address still leads to this journal.
    @discardableResult func refresh() throws(JournalError) -> Bool
}

extension RowJournal {
    /// Runs `body` after `refresh`, and again if a trim has overtaken it. An error about damaged rows gets the remedy that keeps
    /// what a start recovers, unless a start would refuse the journal.
    package func reading<Result>(
        _ rows: some BatchRows, _ body: () throws(JournalError) -> Result
    ) throws(JournalError) -> Result {
        let base = reader.base
        do throws(JournalError) {
            return try body()
        } catch {
            guard error.kind == .corrupt else { throw error }
            try refresh()
            if reader.base != base { return try reading(rows, body) }
            guard startRefusal == nil, let snapshots = try? snapshots() else { throw error }
            throw reader.advised(
                error, snapshots: snapshots, isIntact: { (try? content(of: $0)) != nil }, in: rows)
        }
    }
}
