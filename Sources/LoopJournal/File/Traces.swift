internal import LoopCluster
internal import LoopWire

/// The files next to a journal that show how far it had come. Nothing else shows that a log was lost.
struct Traces {
    private let paths: JournalPaths
    /// The note of the journal's end, or nil if there is none.
    private let end: EndNote.End?
    /// The files of snapshots, finished or not, each with the position of its records.
    let snapshots: [(name: String, position: UInt64)]
    /// The inspection of the journal's log.
    let log: LogInspection

    /// - Parameter log: the inspection of the journal's log.
    init(_ paths: JournalPaths, _ disk: Disk, log: LogInspection) throws(JournalError) {
        self.paths = paths
        self.log = log
        end = try EndNote.read(paths.end, disk)
        snapshots = try SnapshotFolder(path: paths.snapshots, disk: disk).found()
    }

    /// Throws if the files show that there was a journal.
    /// - Parameter flaw: what is wrong with the journal's file, for the error.
    func checkNothingWasThere(_ flaw: String? = nil) throws(JournalError) {
        var found: [String] = []
        if let end, end.position > 0 { found.append("\(paths.end) says that it had \(end.position) records") }
        if let newest = snapshots.last {
            found.append("\(paths.snapshots)/\(newest.name) was made of its first \(newest.position) records")
        }
        if log.validPages > 0 { found.append("\(paths.log) has \(log.validPages) pages of it") }
        guard !found.isEmpty else { return }
        throw JournalError(
            .corrupt, operation: "be opened",
            reason: "\(flaw ?? "there is no \(paths.file), or it is empty"), but \(found.joined(separator: ", and "))",
            remedy: "put it back; to begin a new journal, move away all files whose names begin with \(paths.file)")
    }

    /// Runs `body`. If it finds no database, and the files show that there was a journal, the journal is damaged.
    func judging<Result>(_ body: () throws(JournalError) -> Result) throws(JournalError) -> Result {
        do throws(JournalError) {
            return try body()
        } catch {
            if error.kind == .foreign { try checkNothingWasThere("\(paths.file) is no journal any more") }
            throw error
        }
    }

    /// The two possible causes. The files cannot tell them apart: both leave a journal without its newest records.
    private var causes: String {
        "either \(paths.log) is lost (put it back), or \(paths.file) was copied before the files next to it (use a copy of all that"
            + " was made while no reducer ran, or by VACUUM INTO and without the other files)"
    }

    /// Refuses a journal that ends before records that were there.
    /// - Parameters:
    ///   - tail: the end of the journal's newest row.
    ///   - listed: the names of the snapshots that have a row.
    ///   - wasSynced: whether the durability was `fsync`.
    ///   - damage: makes an error from a reason.
    /// - Returns: the files of snapshots of missing records that were not synced, and lines for people.
    func check(
        _ tail: ChainLink, of history: History, listed: Set<String>, wasSynced: Bool,
        damage: (String) -> JournalError
    ) throws(JournalError) -> (lost: [String], report: [String]) {
        var report: [String] = []
        let missing = log.isEmpty ? "; there is no \(paths.log)" : ""
        if let end, end.history == history, end.position > tail.position {
            let line = "\(paths.end) says that the records up to \(end.position) were written\(missing)"
            if end.isBinding { throw damage("\(line); \(causes)") }
            report.append("the journal ends at record \(tail.position), and \(line): they were not synced")
        }
        let lost = snapshots.filter { $0.position > tail.position && !listed.contains($0.name) }
        guard let newest = lost.last else { return ([], report) }
        let line = "\(paths.snapshots)/\(newest.name) was made of the records up to \(newest.position)\(missing)"
        if wasSynced { throw damage("\(line); \(causes)") }
        report.append("the journal ends at record \(tail.position), and \(line): they were not synced")
        return (lost.map(\.name), report)
    }
}
