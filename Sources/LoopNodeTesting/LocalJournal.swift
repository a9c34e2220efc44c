import LoopNode

/// Where the reducer of a ``LocalCluster`` keeps its journal. Both outlive the reducer, and are there again when it is started again.
public enum LocalJournal: Sendable {
    /// In memory, as long as the cluster: nothing of it is on a disk. It keeps every record, and takes no snapshots.
    case memory
    /// A file, as a reducer in production has it, with snapshots. A later cluster may go on from it.
    case file(String)

    var place: JournalPlace {
        switch self {
        case .memory: KeptRecords().place
        case .file(let path): .file(path)
        }
    }
}
