import LoopCluster
import LoopCore
internal import LoopCollections

/// A snapshot that was written.
struct WrittenSnapshot: Equatable, Sendable {
    let entry: SnapshotEntry
    /// How long it took to encode and write it.
    let duration: Duration
}

/// Decides when a snapshot is due, and encodes and writes it on a separate thread while the loop continues.
struct SnapshotKeeper {
    typealias Writer = @Sendable (SnapshotEntry, [UInt8]) throws(JournalError) -> SnapshotEntry

    /// The number of records between two snapshots. A large state has more, so that writing it stays a small part of the work.
    private let every: UInt64
    private let writer: Writer?
    private let post: @Sendable (ReducerMail) -> Void
    /// Distinguishes its snapshots from those that were begun before the journal failed and was opened again. The opening has
    /// removed their files, and a database may have lost records that they contain.
    let opening: UInt64
    /// The position of the newest snapshot, including one that is being written.
    private(set) var position: UInt64
    /// The size of the newest snapshot in bytes, or 0 if there is none.
    private(set) var byteCount: Int
    private var isWriting = false
    /// Whether the next start depends on a snapshot of this one.
    private var isDue: Bool

    private static var bytesPerRecord: UInt64 { 100 }

    /// - Parameter opening: the nonce of the epoch that began with this opening of the journal. The epoch's number may be lost,
    ///   and assigned again.
    init(
        opening: UInt64, every: UInt64, newest: SnapshotEntry?, isDue: Bool, writer: Writer?,
        post: @escaping @Sendable (ReducerMail) -> Void
    ) {
        self.opening = opening
        self.isDue = isDue
        self.every = every
        self.writer = writer
        self.post = post
        position = newest?.position ?? 0
        byteCount = newest?.byteCount ?? 0
    }

    /// Whether to write a snapshot of the state at a position.
    func isDue(at position: UInt64) -> Bool {
        guard writer != nil, !isWriting else { return false }
        return isDue || position - self.position >= max(every, UInt64(byteCount) / Self.bytesPerRecord)
    }

    /// Writes a snapshot on a separate thread.
    /// - Parameter journaled: a state that is durable.
    mutating func write(_ journaled: borrowing JournaledState, _ log: NodeLog) {
        guard let writer else { return }
        isDue = false
        position = journaled.position
        isWriting = true
        let (copy, post, opening) = (copy journaled, post, opening)
        do {
            _ = try NodeThread("loop-snapshot") {
                post(.snapshotWritten(BackgroundWork.run { Self.write(copy, writer) }, opening: opening))
            }
        } catch {
            isWriting = false
            log.once(.snapshotFailed, "no snapshot was made: \(error)", [.reason("\(error)")])
        }
    }

    /// Takes the result of a snapshot.
    /// - Parameter opening: the opening of the keeper that began it.
    /// - Returns: the result, or nil if another keeper began the snapshot, which is then not added. The next opening of the
    ///   journal removes its file.
    mutating func written(
        _ result: Result<WrittenSnapshot, JournalError>, opening: UInt64
    ) -> Result<WrittenSnapshot, JournalError>? {
        guard opening == self.opening else { return nil }
        isWriting = false
        if case .success(let written) = result { byteCount = written.entry.byteCount }
        return result
    }

    /// Writes a snapshot now, unless the newest one covers everything but the beginning of an epoch.
    func writeNow(_ journaled: JournaledState) throws(JournalError) -> WrittenSnapshot? {
        guard let writer, journaled.position > position else { return nil }
        return try Self.write(journaled, writer).get()
    }

    private static func write(
        _ journaled: JournaledState, _ writer: Writer
    ) -> Result<WrittenSnapshot, JournalError> {
        Result { () throws(JournalError) in
            let began = SystemClock.monotonic
            var bytes: [UInt8] = []
            defer { BackgroundWork.discard(&bytes) }
            do {
                bytes = try journaled.snapshot()
            } catch {
                throw JournalError(
                    .misuse, operation: "encode the state for a snapshot", reason: "\(error)",
                    remedy: "make every value of the state one that can be encoded")
            }
            let entry = SnapshotEntry(
                position: journaled.position, seq: journaled.seq, fingerprint: journaled.loop.fingerprint.value)
            return WrittenSnapshot(entry: try writer(entry, bytes), duration: SystemClock.monotonic - began)
        }
    }
}
