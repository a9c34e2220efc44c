internal import LoopCluster
internal import LoopCollections
public import LoopNode
internal import LoopWire

extension JournalPlace {
    /// A journal in a PostgreSQL database, whose tables `loopctl journal init` has made. Several loops may share it.
    /// - Parameters:
    ///   - url: the database.
    ///   - keptAs: the journal of the loop to read. Only the current one can be opened for writing.
    ///
    /// `ReducerNodeConfiguration` sets the duration of the lease and the time limit of a statement.
    public static func postgres(_ url: ConnectionString, keptAs: KeptAs = .current) -> JournalPlace {
        let memories = Locked([String: JournalMemory]())
        @Sendable func memory(of loop: String) -> JournalMemory {
            memories.withLock { memories in
                if let known = memories[loop] { return known }
                let new = JournalMemory()
                memories[loop] = new
                return new
            }
        }
        @Sendable func refuseWriting() throws(JournalError) {
            guard keptAs == .current else {
                throw JournalError(
                    .readOnly, operation: "be opened for writing",
                    reason: "the \(keptAs.rawValue) journal of a loop is only kept to be read",
                    remedy: "leave #\(keptAs.rawValue) out")
            }
        }
        return JournalPlace(
            path: { _ in nil }, name: { _ in keptAs == .current ? url.description : "\(url)#\(keptAs.rawValue)" },
            open: { opening throws(JournalError) in
                try refuseWriting()
                let journal = try PostgresJournal.open(
                    url, opening, newHistory: History(SystemRandom.uint64() | 1), memory: memory(of: opening.loop))
                for line in journal.openReport { opening.note(line) }
                return journal
            },
            read: { loop, _ throws(JournalError) in
                try PostgresJournal.read(url, loop: loop, keptAs: keptAs, hosts: memory(of: loop).sources)
            },
            cut: { loop, seq, isForced throws(JournalError) in
                try refuseWriting()
                try PostgresJournal.cut(
                    url, loop: loop, after: seq, newHistory: History(SystemRandom.uint64() | 1), at: SystemClock.wall,
                    memory: memory(of: loop), isForced: isForced)
            })
    }
}

extension JournalEngine {
    /// Journals in PostgreSQL: `--journal postgres://user@host/database`.
    ///
    /// `#previous` and `#damaged` behind a URL name the previous and the damaged journal of a loop, as in the names of files. They
    /// are for reading.
    public static let postgres = JournalEngine(
        form: "postgres://USER@HOST/DATABASE", isPlace: ConnectionString.isURL
    ) { text throws(JournalPlaceError) in
        var (url, keptAs) = (text[...], KeptAs.current)
        if let mark = text.lastIndex(of: "#") {
            // Any other text behind the mark is not shown, because it may be a part of a password.
            guard let found = KeptAs(rawValue: String(text[text.index(after: mark)...])) else {
                throw JournalPlaceError(
                    "it has a # that neither #previous nor #damaged follows, the journals of a loop besides its current one; a # in a"
                        + " password is written %23")
            }
            (url, keptAs) = (text[..<mark], found)
        }
        do throws(PostgresError) {
            return .postgres(try ConnectionString(String(url)), keptAs: keptAs)
        } catch {
            throw JournalPlaceError(error.description)
        }
    }
}
