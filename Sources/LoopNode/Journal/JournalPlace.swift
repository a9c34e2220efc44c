package import LoopCluster
import LoopCore
import LoopJournal
import LoopWire

/// Where a reducer keeps its journal.
public struct JournalPlace: Sendable {
    /// What a place is asked to open, on the thread that asks.
    package struct Opening {
        package var loop: String
        package var durability: Durability
        package var waits: Bool
        /// Where peers find this process; told to those that wait for the journal.
        package var address: String?
        /// Called at least ten times a second while it waits, with what is known of the process that has the journal. It may take a
        /// tenth of a second. Returns whether to go on waiting.
        package var whileWaiting: ((JournalOwner) -> Bool)?
        /// Asked while it waits: whether it is to give up, with the error of a journal that another process has.
        package var isStopping: @Sendable () -> Bool
        package var note: @Sendable (String) -> Void
    }

    /// For people; nil for a journal in memory.
    package let path: @Sendable (_ loop: String) -> String?
    package let open: @Sendable (Opening) throws(JournalError) -> any Journal
    /// Opens the journal for reading, while another process may write it; nil where it cannot be read.
    package let read: Reader?

    package typealias Reader = @Sendable (_ loop: String) throws(JournalError) -> any Journal

    package init(
        path: @escaping @Sendable (String) -> String?,
        open: @escaping @Sendable (Opening) throws(JournalError) -> any Journal,
        read: Reader?
    ) {
        self.path = path
        self.open = open
        self.read = read
    }

    /// Nothing outlives the process; every start begins a new history.
    public static let memory = JournalPlace(
        path: { _ in nil },
        open: { _ throws(JournalError) in MemoryJournal(history: History(SystemRandom.uint64() | 1)) }, read: nil)

    /// The file `<loop>.journal` in the working directory.
    public static let standard = file(nil)

    /// A file, made where there is none.
    /// - Parameter path: nil: `<loop>.journal` in the working directory.
    public static func file(_ path: String?) -> JournalPlace {
        let name: @Sendable (String) -> String = { path ?? "\($0).journal" }
        return JournalPlace(
            path: { name($0) },
            open: { opening throws(JournalError) in try openFile(name(opening.loop), opening) },
            read: { loop throws(JournalError) in try SQLiteJournal.read(name(loop)) })
    }

    /// A job whose outcome was told is over: its journal makes room for the next run's.
    private static func openFile(_ path: String, _ opening: Opening) throws(JournalError) -> any Journal {
        let journal = try openFileOnce(path, opening)
        guard journal.hasEnded else { return journal }
        journal.close()
        let previous = try SQLiteJournal.setAside(path)
        opening.note("the run of \(path) has ended; its journal is \(previous ?? "gone") now, and a new one begins")
        return try openFileOnce(path, opening)
    }

    /// Waits until the journal is free or the node is to stop, and says so once.
    private static func waiting(_ opening: Opening, for path: String) -> (JournalError) -> Bool {
        var isSaid = false
        return { error in
            if !isSaid { opening.note("\(error.reason); waiting for it") }
            isSaid = true
            guard let whileWaiting = opening.whileWaiting else { return !opening.isStopping() }
            return whileWaiting(JournalOwner(address: SQLiteJournal.ownerAddress(of: path))) && !opening.isStopping()
        }
    }

    private static func openFileOnce(_ path: String, _ opening: Opening) throws(JournalError) -> SQLiteJournal {
        let journal = try SQLiteJournal.open(
            path, loop: opening.loop, durability: opening.durability, newHistory: History(SystemRandom.uint64() | 1),
            address: opening.address, whileLocked: opening.waits ? Self.waiting(opening, for: path) : nil)
        for line in journal.openReport { opening.note(line) }
        return journal
    }
}
