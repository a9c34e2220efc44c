import LoopNode

/// The kind of a reducer's journal in a ``LocalCluster``. Each outlives the reducer, which continues it when it is started again.
public enum LocalJournal: Sendable {
    /// In memory, as long as the cluster, and never on a disk. It keeps every record, and takes no snapshots.
    case memory
    /// In a file with snapshots, as a reducer in production has it. A later cluster may continue it.
    case file(String)

    var place: JournalPlace {
        switch self {
        case .memory: KeptRecords().place
        case .file(let path): .file(path)
        }
    }
}
