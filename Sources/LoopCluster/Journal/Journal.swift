package import LoopCore
package import LoopWire

/// The store in which records become durable, and from which a loop is recovered. Its implementations are in LoopJournal; the
/// simulator has its own. Records are numbered from 1 over the whole life of a journal. That number is a record's *position*.
package protocol Journal {
    /// The history that the journal began with.
    var history: History { get }

    /// The position of the newest record that has a receipt, or 0 if nothing was ever appended.
    var position: UInt64 { get }

    /// Appends records after all earlier ones. Waits for their receipt, and for the receipts of all appends that began before.
    /// - Parameters:
    ///   - records: the records of a turn, in order.
    ///   - position: the position of the last of them, as their maker counts. A journal that counts another one refuses.
    /// - Returns: the proof, once the records are as durable as this journal makes them.
    /// - Throws: `JournalError` of kind `.misuse` if the records do not end at `position`, or of another kind if they cannot be
    ///   written. After any error in writing, every later append is refused.
    mutating func append(_ records: RecordLog, through position: UInt64) throws(JournalError) -> JournalReceipt

    /// Begins an append after all that were begun before, without waiting for its receipt. The parameters are those of
    /// `append`; the position is counted from what was begun.
    /// - Returns: the receipt if it is there at once and no other append is under way. If nil, `takeReceipt` returns it later.
    /// - Throws: as `append`. After any error, no append without a receipt gets one any more.
    mutating func beginAppend(_ records: RecordLog, through position: UInt64) throws(JournalError) -> JournalReceipt?

    /// Takes the next receipt of the appends that were begun, in their order. One receipt may prove several appends.
    /// - Parameter waits: whether to wait for the receipt, as long as the journal allows an append.
    /// - Returns: the receipt, or nil if no append is under way or its receipt is not there yet.
    /// - Throws: as `append`, if an append that was begun has failed or took too long.
    mutating func takeReceipt(waits: Bool) throws(JournalError) -> JournalReceipt?

    /// A descriptor to poll while an append waits for its receipt, or nil if none does. It is readable when `takeReceipt` may find
    /// something.
    var receiptDescriptor: Int32? { get }

    /// Waits while another thread of this process uses the journal's connection, as a renewal of the lease does.
    /// - Returns: whether the connection is free within the limit. An append then waits for no other thread.
    func isFree(within limit: Duration) -> Bool

    /// A closure that asks what an append or a renewal of the lease waits for, or nil if none is ever under way. It may be called
    /// on any thread, takes a few seconds at most, and returns nil if the answer is not known.
    var inquiry: (@Sendable () -> JournalError?)? { get }

    /// Proves that this process still leads the loop, by a commit that begins after the call. The reducer asks for this before
    /// it reports missing records that a peer knows of, because it may itself be behind. Does nothing if no other process can
    /// own the journal while it is open, as with a locked file.
    /// - Throws: `JournalError` if another process may lead.
    mutating func prove() throws(JournalError)

    /// The lease after which another process may take over the journal, or nil if none can while it is open.
    var lease: JournalLease? { get }

    /// How many bytes wait to be moved into the journal's file until a reader has ended, or nil if no reader is in the way.
    var heldLogBytes: Int? { get }

    /// Does what is left to do between turns: a journal in a file checks that it was not moved, and shortens the work that a
    /// reader has kept it from.
    /// - Throws: `JournalError` if nothing more can be written.
    mutating func flush() throws(JournalError)

    /// A page of the records after a position, in order; empty at the end.
    /// - Parameters:
    ///   - position: the position before the first record of the page.
    ///   - bytesMax: about how many bytes of records to read; at least one record if there is one.
    /// - Throws: `JournalError` of kind `.corrupt` if a record cannot be trusted, or of kind `.trimmed` if the next one was
    ///   trimmed.
    func records(after position: UInt64, bytesMax: Int) throws(JournalError) -> [Record]

    /// The first seq among the event records that are still there, or nil if there is none.
    /// - Throws: `JournalError` if the journal cannot be read.
    func firstSeq() throws(JournalError) -> Seq?

    /// The seq of the newest event, also if its record was trimmed; 0 if there was none. By default all records are read.
    /// - Throws: `JournalError` if the journal cannot be read.
    func newestSeq() throws(JournalError) -> Seq

    /// A position after which the first event record is that of `seq`, or one not far before it.
    /// - Throws: `JournalError` if the journal cannot be read.
    func position(before seq: Seq) throws(JournalError) -> UInt64

    /// The snapshots that are there, the newest first.
    /// - Throws: `JournalError` if the journal cannot be read.
    func snapshots() throws(JournalError) -> [SnapshotEntry]

    /// The bytes of a snapshot.
    /// - Throws: `JournalError` of kind `.corrupt` if they are not what was written.
    func content(of snapshot: SnapshotEntry) throws(JournalError) -> [UInt8]

    /// A closure that writes a snapshot's bytes on any thread while records are appended, or nil if this journal keeps none.
    var snapshotWriter: (@Sendable (SnapshotEntry, [UInt8]) throws(JournalError) -> SnapshotEntry)? { get }

    /// Adds a snapshot that was written. All but the newest few are forgotten.
    /// - Throws: `JournalError` if the snapshot cannot be added. It does not count then.
    mutating func add(_ snapshot: SnapshotEntry) throws(JournalError)

    /// Forgets records below a seq, up to a valid snapshot that is not the newest one. It keeps that snapshot, so that the state
    /// after every remaining event can be shown.
    /// - Returns: the first seq that is still there.
    /// - Throws: `JournalError` if the records cannot be removed. None is removed then.
    mutating func trim(before seq: Seq) throws(JournalError) -> Seq

    /// Marks the loop as ended, after its outcome was reported. The next run begins with a new journal.
    /// - Throws: `JournalError` if the mark cannot be written.
    mutating func markEnded() throws(JournalError)

    /// Why a reducer would refuse to start on this journal, which was opened for reading. Nil if a reducer would start, or has it
    /// open.
    var startRefusal: JournalError? { get }

    /// Closes the files. Nothing else may be called afterwards.
    mutating func close()

    /// Closes the files as the end of the process would: what was acknowledged before it was written is lost. Nothing else may
    /// be called afterwards. By default it does what `close` does.
    mutating func abandon()
}

extension Journal {
    /// Whether the first record is still there, and was not trimmed.
    func hasFirstRecord() throws(JournalError) -> Bool {
        do throws(JournalError) {
            _ = try records(after: 0, bytesMax: 1)
            return true
        } catch {
            guard error.kind == .trimmed else { throw error }
            return false
        }
    }

    /// Calls `body` with each record after a position, in order, until it returns false.
    func forEachRecord(after position: UInt64, _ body: (Record) throws -> Bool) throws {
        var position = position
        while true {
            let page = try records(after: position, bytesMax: 4 << 20)
            if page.isEmpty { return }
            for record in page where try !body(record) { return }
            position += UInt64(page.count)
        }
    }

    /// Calls `body` with each record after one position up to another, and with its position.
    func forEachRecord(
        after start: UInt64, through end: UInt64, _ body: (Record, UInt64) -> Void
    ) throws(JournalError) {
        var position = start
        while position < end {
            let page = try records(after: position, bytesMax: 1 << 20)
            if page.isEmpty { return }
            for record in page.prefix(Int(end - position)) {
                position += 1
                body(record, position)
            }
        }
    }

    /// Walks backwards, a window of 4096 records at a time, until `body` returns false. If a window begins before the oldest record
    /// that is left, a smaller one is tried.
    /// - Parameters:
    ///   - end: the position of the newest record.
    ///   - last: the position at which the walk ends.
    ///   - body: gets the position before a window, and that of its last record. It reads the window first.
    /// - Returns: the position that the walk has reached, or nil if `body` returned false or the records before it were trimmed.
    func forEachWindow(
        before end: UInt64, downTo last: UInt64 = 0,
        _ body: (_ start: UInt64, _ end: UInt64) throws(JournalError) -> Bool
    ) throws(JournalError) -> UInt64? {
        var (end, count) = (end, UInt64(4096))
        while end > last {
            let start = end - min(end, count)
            do throws(JournalError) {
                guard try body(start, end) else { return nil }
                end = start
            } catch {
                guard error.kind == .trimmed else { throw error }
                guard count > 1 else { return nil }
                count /= 2
            }
        }
        return end
    }

    /// Whether the bytes of a snapshot are what was written.
    /// - Throws: `JournalError` if that is not known, because the journal cannot be read.
    package func isIntact(_ snapshot: SnapshotEntry) throws(JournalError) -> Bool {
        try snapshot.isIntact { entry throws(JournalError) in try content(of: entry) }
    }

    /// Trims the journal, and returns a text that names its new beginning. (See `trim`.)
    /// - Parameter name: the journal's name in the text.
    package mutating func trimmed(before seq: Seq, name: String) throws(JournalError) -> String {
        let next = try newestSeq().next
        let old = try firstSeq() ?? next
        let first = try trim(before: seq)
        if first > old { return "\(name) begins at seq \(first) now" }
        let reason =
            seq <= old ? " already" : ", and no intact snapshot between there and seq \(seq) is older than the newest"
        return "no event was trimmed: \(name) begins at seq \(first)\(reason)"
    }

    /// Reads the event records from the end, for a journal that cannot find a record without reading those before it.
    package func newestSeq() throws(JournalError) -> Seq {
        for case .event(let event) in try records(after: position(before: Seq(.max)), bytesMax: .max).reversed() {
            return event.seq
        }
        return .initial
    }

    /// Appends the records, which have their receipt when this returns.
    package mutating func beginAppend(
        _ records: RecordLog, through position: UInt64
    ) throws(JournalError) -> JournalReceipt? {
        try append(records, through: position)
    }

    /// Nil, because every append has its receipt when it returns.
    package mutating func takeReceipt(waits: Bool) -> JournalReceipt? { nil }

    /// Nil, because no append is ever under way.
    package var receiptDescriptor: Int32? { nil }
    package func isFree(within limit: Duration) -> Bool { true }

    /// Nil, because no append is ever under way.
    package var inquiry: (@Sendable () -> JournalError?)? { nil }

    /// Does nothing, because no other process can own the journal while it is open.
    package mutating func prove() {}

    /// Nil, because opening for reading fails for the same reasons as a start.
    package var startRefusal: JournalError? { nil }

    /// Nil, because no other process takes over the journal.
    package var lease: JournalLease? { nil }

    /// Nil, because readers are never in the way.
    package var heldLogBytes: Int? { nil }

    /// Closes it.
    package mutating func abandon() { close() }
}

/// The lease of a journal that other processes take over when its holder gives no sign of life.
package struct JournalLease: Equatable, Sendable {
    /// The time from the newest proof until another process may take over.
    package var duration: Duration
    /// The start of the newest commit that proved that this process owns the journal.
    package var provenAt: MonotonicTime

    /// What the last look at the database has shown, or nil before the first one.
    package var database: DatabaseFigures?

    /// Creates a lease from its parts.
    package init(duration: Duration, provenAt: MonotonicTime, database: DatabaseFigures? = nil) {
        self.duration = duration
        self.provenAt = provenAt
        self.database = database
    }
}

/// What one look at a database has shown. A figure is nil if this process may not see it.
package struct DatabaseFigures: Equatable, Sendable {
    /// How long the oldest transaction of the database has been open. The database keeps dead rows until that transaction ends.
    package var oldestTransaction: Duration?
    /// The size in bytes of all tables of journals and their indexes, when they were last vacuumed or analyzed.
    package var tableBytes: Int64?
    /// How many dead versions the rows have by which reducers lead, as the database estimates.
    package var deadRows: Int64?
    /// How many standbys confirm commits.
    package var syncStandbys: Int64?
    /// The seq of the oldest state that the journal can show; 0 if nothing was trimmed.
    package var oldestSeq: Int64?
    /// The hosts in the URL, in their order.
    package var hosts: [String]
    /// The number of the host in use, from 0.
    package var host: Int

    /// Creates figures that are not known yet.
    package init(hosts: [String], host: Int) {
        self.hosts = hosts
        self.host = host
    }
}

/// A snapshot of a loop, as the journal lists it.
package struct SnapshotEntry: Equatable, Sendable {
    /// The position of the last record that it covers.
    package var position: UInt64
    /// The seq of the state in it; 0 for the initial state.
    package var seq: Seq
    /// The fingerprint of the definition that made it.
    package var fingerprint: UInt64
    /// The size of its bytes; 0 before it is written.
    package var byteCount: Int
    /// CRC-32 of its position, seq, fingerprint and bytes; 0 before it is written, and in a journal that needs none.
    package var checksum: UInt32

    /// Creates an entry from its parts. The journal fills in the size and the checksum when it writes the bytes.
    package init(position: UInt64, seq: Seq, fingerprint: UInt64, byteCount: Int = 0, checksum: UInt32 = 0) {
        self.position = position
        self.seq = seq
        self.fingerprint = fingerprint
        self.byteCount = byteCount
        self.checksum = checksum
    }

    /// Whether its bytes are what was written.
    /// - Parameter content: reads and checks the bytes.
    /// - Throws: what `content` throws, unless the bytes are damaged.
    package func isIntact(
        _ content: (SnapshotEntry) throws(JournalError) -> [UInt8]
    ) throws(JournalError) -> Bool {
        do throws(JournalError) {
            _ = try content(self)
            return true
        } catch {
            guard error.kind == .corrupt else { throw error }
            return false
        }
    }
}

/// The guarantee that an acknowledgement of a journal gives.
public enum Durability: String, CaseIterable, Sendable {
    /// The records survive a loss of power.
    case fsync
    /// The records survive the end of the process, and reach the disk when the system writes them.
    case os
}

/// The proof that every record up to a position is in the journal.
package struct JournalReceipt: Sendable {
    /// The position of the last record that is proven to be in the journal.
    package let position: UInt64

    /// Creates the proof for every record up to a position. Only a journal should call this.
    package init(through position: UInt64) { self.position = position }
}

/// An error of a journal that could not do what it was asked. Nothing that depends on the operation may leave.
package struct JournalError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of errors, for programs. A caller decides by the kind what to do next.
    package enum Kind: Equatable, Sendable {
        /// The disk is full.
        case full
        /// The file, its folder or its disk cannot be written to.
        case readOnly
        /// The disk failed to read, write or sync.
        case failedDisk
        /// Another process has the journal open.
        case locked
        /// Another program, which is no reducer, has a transaction open on the file, or is about to begin one.
        case busy
        /// The path names no file any more, or another file than the one that was opened.
        case moved
        /// A database did not answer in time, or its answer proves nothing: whether it did what it was asked is unknown.
        case unreachable
        /// The bytes are not those that were written.
        case corrupt
        /// The records were trimmed.
        case trimmed
        /// It is no journal, or one of another loop, or of a newer version of the schema. Or one of its files is another
        /// user's, can be changed by others, or is not what its name says.
        case foreign
        /// The caller used the journal in a way that it does not allow.
        case misuse
    }

    /// The kind of the error.
    package var kind: Kind
    /// The operation that failed, as it follows "could not": "append records through 7".
    package var operation: String
    /// The cause of the failure, in words.
    package var reason: String
    /// The way out for an operator or a caller.
    package var remedy: String
    /// The cause of the failure, for programs.
    package var fault: JournalFault

    /// Creates an error from its parts. Without a `fault` the cause is the usual one of the kind.
    package init(_ kind: Kind, operation: String, reason: String, remedy: String, fault: JournalFault? = nil) {
        self.kind = kind
        self.operation = operation
        self.reason = reason
        self.remedy = remedy
        self.fault = fault ?? JournalFault(kind.usualFault)
    }

    /// One line for people: the operation, the reason and the remedy.
    package var description: String { "the journal could not \(operation): \(reason); \(remedy)" }
}

extension JournalError {
    /// The error of an operation that names a seq after the newest event.
    package static func afterNewest(_ newest: Seq, _ operation: String) -> Self {
        Self(
            .misuse, operation: operation, reason: "its newest event is \(newest)",
            remedy: "give the seq of an event that is there")
    }

    /// Why a journal is not trimmed, or nil if the seq is at most that of the event that comes next.
    package static func refusal(ofTrimBefore seq: Seq, newest: Seq) -> Self? {
        seq <= newest.next ? nil : afterNewest(newest, "trim the records before seq \(seq)")
    }
}

extension JournalError.Kind {
    /// The cause of an error of this kind if nothing more is known.
    fileprivate var usualFault: JournalFault.Reason {
        switch self {
        case .full: .diskFull
        case .readOnly: .readOnly
        case .failedDisk: .diskFailed
        case .locked: .heldByAnother
        case .unreachable: .noDatabase
        case .corrupt: .corrupt
        case .foreign: .foreign
        case .busy: .inUse
        case .moved: .moved
        case .trimmed, .misuse: .mistake
        }
    }

    /// Whether the cause may pass without a change of the journal.
    package var mayPass: Bool {
        switch self {
        case .full, .readOnly, .failedDisk, .locked, .busy, .moved, .unreachable: true
        case .corrupt, .trimmed, .foreign, .misuse: false
        }
    }
}
