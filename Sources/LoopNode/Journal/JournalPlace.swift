internal import Glibc
package import LoopCluster
package import LoopCore
import LoopJournal
package import LoopWire

/// The location of a reducer's journal.
public struct JournalPlace: Sendable {
    /// What to open, and how. Its closures are called on the thread that opens the journal.
    package struct Opening: Sendable {
        package var loop: String
        package var durability: Durability
        package var waits: Bool
        /// The address at which peers reach this process. Processes that wait for the journal can read it.
        package var address: String?
        /// Called about 20 times a second while it waits, with what is known of the process that has the journal. The calls
        /// pause while that cannot be read. Returns whether to go on waiting.
        package var whileWaiting: (@Sendable (JournalOwner) -> Bool)?
        /// Whether the opening waits for a file that another program uses or that was moved. If it also waits for another
        /// process, it then waits for every other obstacle that may pass.
        package var waitsForFile = false
        /// The history of the journal that this process has opened or followed, or nil if there is none. With a history, no
        /// other journal is opened or made.
        package var expected: @Sendable () -> History? = { nil }
        /// Until this time, the process takes the journal only if another process has had it since. If nil, it takes it at once.
        package var standsBackUntil: MonotonicTime?
        /// The time until which another process is to take the journal first, because an operator wants that.
        package var leavesItUntil: @Sendable () -> MonotonicTime = { .zero }
        /// How far this process follows the journal, or nil if it does not.
        package var following: (@Sendable () -> FollowingReport)?
        /// Called with the end of the journal at each renewal of the process that has it, if renewals can be seen.
        package var hears: (@Sendable (RowEnd) -> Void)?
        /// How long after the last renewal no other process may take a journal in a database.
        package var lease = ReducerNodeConfiguration.standardLease
        /// How long a short statement may take on a journal in a database.
        package var deadline = ReducerNodeConfiguration.standardDeadline
        /// Whether the journal of a run that has ended is opened as it is, instead of being set aside for the next run.
        package var keepsEnded = false
        /// Checked while the opening waits: whether to give up, with the error that another process has the journal.
        package var isStopping: @Sendable () -> Bool
        package var note: @Sendable (String) -> Void

        package init(
            loop: String, durability: Durability = .fsync, waits: Bool = false, address: String? = nil,
            whileWaiting: (@Sendable (JournalOwner) -> Bool)? = nil,
            isStopping: @escaping @Sendable () -> Bool = { false },
            note: @escaping @Sendable (String) -> Void = { _ in }
        ) {
            self.loop = loop
            self.durability = durability
            self.waits = waits
            self.address = address
            self.whileWaiting = whileWaiting
            self.isStopping = isStopping
            self.note = note
        }

        /// How long this process leaves a free journal to other processes. It is zero for a process that does not follow.
        /// - Parameters:
        ///   - newest: the position of the journal's newest record, or nil to use the newest record that this process has seen.
        ///   - snapshot: the position of the newest snapshot, from which this process could begin, or 0 if there is none.
        package func headStart(newest: UInt64? = nil, snapshot: UInt64 = 0) -> Duration {
            guard let report = following?() else { return .zero }
            let headStart = HeadStart(lease: lease)
            guard let newest else { return headStart.duration(behind: report.coldBecause == nil ? report.lag : .max) }
            return headStart.duration(from: report.position, to: newest, snapshot: snapshot)
        }
    }

    /// The file, next to which the crash note lies, or nil for a journal that is not a file.
    package let path: @Sendable (_ loop: String) -> String?
    /// The name for people, without a password.
    package let name: @Sendable (_ loop: String) -> String
    package let open: @Sendable (Opening) throws(JournalError) -> any Journal
    /// Opens the journal for reading while another process may write it, or nil if it cannot be read.
    package let read: Reader?
    /// Keeps events up to a seq and begins a new history, or nil if the journal cannot be cut.
    package let cut: Cutter?

    /// - Parameter note: called with what a person should know of the journal.
    package typealias Reader =
        @Sendable (_ loop: String, _ note: (String) -> Void) throws(JournalError) -> any Journal
    package typealias Cutter =
        @Sendable (_ loop: String, _ after: Seq, _ isForced: Bool) throws(JournalError) -> Void

    package init(
        path: @escaping @Sendable (String) -> String?, name: (@Sendable (String) -> String)? = nil,
        open: @escaping @Sendable (Opening) throws(JournalError) -> any Journal, read: Reader?, cut: Cutter? = nil
    ) {
        self.path = path
        self.name = name ?? { path($0) ?? "memory" }
        self.open = open
        self.read = read
        self.cut = cut
    }

    /// A journal in memory. Nothing outlives the process, and every start begins a new history.
    public static let memory = JournalPlace(
        path: { _ in nil },
        open: { _ throws(JournalError) in MemoryJournal(history: History(SystemRandom.uint64() | 1)) }, read: nil)

    /// The file `<loop>.journal` in the working directory.
    public static let standard = file(nil)

    /// A file, which is made if it does not exist.
    /// - Parameter path: the path, or nil for `<loop>.journal` in the working directory.
    public static func file(_ path: String?) -> JournalPlace {
        let name: @Sendable (String) -> String = { path ?? "\($0).journal" }
        return JournalPlace(
            path: { name($0) },
            open: { opening throws(JournalError) in try openFile(name(opening.loop), opening) },
            read: { loop, note throws(JournalError) in try readFile(name(loop), loop, note) },
            cut: { loop, seq, isForced throws(JournalError) in
                try SQLiteJournal.cut(
                    name(loop), loop: loop, after: seq, newHistory: History(SystemRandom.uint64() | 1),
                    at: SystemClock.wall, isForced: isForced)
            })
    }

    private static func readFile(
        _ path: String, _ loop: String, _ note: (String) -> Void
    ) throws(JournalError) -> any Journal {
        let journal = try SQLiteJournal.read(path)
        guard journal.loop == loop else {
            journal.close()
            throw JournalError(
                .foreign, operation: "be read",
                reason: "\(path) is the journal of the loop \(journal.loop), not of \(loop)",
                remedy: "give the journal of \(loop), or run the program of \(journal.loop)")
        }
        for line in journal.openReport { note(line) }
        return journal
    }

    /// Opens a file. If it is the journal of a job whose outcome was delivered, the file is set aside for the next run.
    private static func openFile(_ path: String, _ opening: Opening) throws(JournalError) -> any Journal {
        let journal = try openFileOnce(path, opening)
        guard journal.hasEnded, !opening.keepsEnded else { return journal }
        journal.close()
        let previous = try SQLiteJournal.setAside(path)
        opening.note("the run of \(path) has ended; its journal is \(previous ?? "gone") now, and a new one begins")
        var next = opening
        next.expected = { nil }
        return try openFileOnce(path, next)
    }

    /// Makes a closure that waits until the next try, and returns whether to go on waiting.
    private static func waiting(_ opening: Opening, for path: String) -> (JournalError) -> Bool {
        { error in
            // A standby that has followed the journal further tries more often.
            let nextTry = SystemClock.monotonic + opening.headStart()
            repeat {
                if opening.isStopping() { return false }
                let owner = JournalOwner(address: SQLiteJournal.ownerAddress(of: path), obstacle: error)
                if let whileWaiting = opening.whileWaiting, !whileWaiting(owner) { return false }
                // Nothing tells this process that another one has let go of a file, or that an operator's request ends.
                if SystemClock.monotonic < max(nextTry, opening.leavesItUntil()) { usleep(20_000) }
            } while SystemClock.monotonic < max(nextTry, opening.leavesItUntil())
            return true
        }
    }

    /// Waits if this reducer has stepped down, so that others can open the file first.
    private static func standBack(_ path: String, _ opening: Opening) throws(JournalError) {
        guard let until = opening.standsBackUntil else { return }
        while SystemClock.monotonic < until, SQLiteJournal.wasThisProcessLast(at: path, address: opening.address) {
            if opening.isStopping() || !(opening.whileWaiting?(JournalOwner()) ?? true) {
                throw JournalError(
                    .locked, operation: "be opened for writing", reason: "\(path) is left to another process",
                    remedy: "start the reducer again")
            }
            // A file gives no notice when another process has opened it.
            usleep(20_000)
        }
    }

    private static func openFileOnce(_ path: String, _ opening: Opening) throws(JournalError) -> SQLiteJournal {
        try standBack(path, opening)
        var isSaid = false
        var pause = Duration.milliseconds(50)
        while true {
            do throws(JournalError) {
                let journal = try SQLiteJournal.open(
                    path, loop: opening.loop, durability: opening.durability,
                    newHistory: History(SystemRandom.uint64() | 1), expected: opening.expected(),
                    address: opening.address, whileLocked: opening.waits ? Self.waiting(opening, for: path) : nil)
                // Only a tool has the time to look for damage, and a tool keeps a journal that has ended.
                journal.reader.looksForDamage = opening.keepsEnded
                for line in journal.openReport { opening.note(line) }
                return journal
            } catch {
                guard mayWait(error, opening), !opening.isStopping() else { throw error }
                if !isSaid { opening.note("\(error); waiting for it") }
                isSaid = true
                let nextTry = SystemClock.monotonic + pause
                repeat {
                    guard opening.whileWaiting?(JournalOwner(obstacle: error)) ?? true, !opening.isStopping() else {
                        throw error
                    }
                    // The system gives no notice when another process ends its transaction.
                    usleep(50_000)
                } while SystemClock.monotonic < nextTry
                // Other obstacles last, and each try reads and may write much.
                let isShort = [.busy, .moved, .locked].contains(error.kind)
                pause = isShort ? .milliseconds(50) : min(pause * 2, .seconds(4))
            }
        }
    }

    /// Whether an opening that has failed with this error may be tried again.
    private static func mayWait(_ error: JournalError, _ opening: Opening) -> Bool {
        switch error.kind {
        case .busy, .moved: opening.waitsForFile
        case .locked: opening.waits
        default: opening.waits && opening.waitsForFile && error.kind.mayPass
        }
    }
}

/// The process that has a journal, as waiting processes see it.
package struct JournalOwner: Equatable, Sendable {
    /// The address at which peers reach it, in the form of `--reducer`, or nil if it is unknown.
    package var address: String?
    /// Its epoch, by which a peer knows whether this is newer, or `.none` if the journal does not say.
    package var epoch: Epoch
    /// Why the journal is not free: another process has it, or it does not respond.
    package var obstacle: JournalError?

    package init(address: String? = nil, epoch: Epoch = .none, obstacle: JournalError? = nil) {
        self.address = address
        self.epoch = epoch
        self.obstacle = obstacle
    }
}
