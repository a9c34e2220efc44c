import LoopCluster
import LoopCore
import LoopJournal
import LoopWire

extension SQLiteJournal {
    static func cut(_ path: String, loop: String, after: Seq, newHistory: History) throws(JournalError) {}
}
