import LoopCluster
import LoopCore
import LoopWire

/// The part of the reducer's machine that survives a process: the disk, its faults, and the history on it.
struct Storage {
    /// The disk, or nil until the first process starts.
    private(set) var disk: SimulatedDisk?
    /// The database of the journal, or nil if the journal is a file. Its records are those of the disk.
    private(set) var database: SimulatedDatabase?
    /// The history of the newest record.
    private(set) var history = History.none
    var faults = DiskFaults()
    /// The time before which the database runs no statement.
    var awayUntil: UInt64 = 0
    /// The position up to which the checkers know the database's journal, and the position on which sent messages depend.
    var notedPosition: UInt64 = 0
    var toldPosition: UInt64 = 0
    /// The next loss of power that no peer should notice, or nil.
    var awaitedLoss: AwaitedLoss?
    /// The records that an older copy of the journal lacks, or nil once a process has started on it.
    private(set) var missing: [Record]?
    /// Whether an older copy of the journal was put back, and no peer has shown yet that something is missing.
    private(set) var isRestored = false
    /// Whether an operator knows of the loss, and starts the reducer without what is missing.
    var goesOnWithoutLost = false

    /// Replaces the disk with an empty one.
    mutating func begin(_ history: History, alwaysSyncs: Bool) {
        self.history = history
        disk = SimulatedDisk(history: history, alwaysSyncs: alwaysSyncs)
    }

    /// Begins with an empty database.
    mutating func begin(_ database: SimulatedDatabase) {
        history = database.disk.history
        self.database = database
        disk = database.disk
    }

    /// A record is durable.
    mutating func note(_ record: Record) {
        guard case .historyBegun(let begun, _) = record else { return }
        history = begun
        isRestored = false
        goesOnWithoutLost = false
    }

    /// Records of the journal's end are lost, so the history may be an earlier one.
    mutating func findHistory(of disk: SimulatedDisk) {
        history = disk.history
        for case .historyBegun(let begun, _) in disk.records { history = begun }
    }

    /// An operator puts an older copy of the journal back.
    /// - Returns: the number of missing records, or nil if there is no older copy.
    mutating func restoreCopy() -> Int? {
        guard let lost = disk?.putBackCopy() else { return nil }
        isRestored = true
        missing = lost
        return lost.count
    }

    /// The first process starts on an older copy.
    mutating func takeMissing() -> [Record]? { missing.take() }
}

/// The faults of the next appends.
struct DiskFaults {
    var isNextSlow = false
    var isNextFailing = false
    /// The time before which the disk is full.
    var fullUntil: UInt64 = 0

    /// The error of the present append, or nil.
    mutating func takeFailure(at now: UInt64) -> JournalError.Kind? {
        defer { isNextFailing = false }
        return now < fullUntil ? .full : isNextFailing ? .failedDisk : nil
    }

    /// From now on the disk accepts every append. One may still be slow.
    mutating func heal() {
        fullUntil = 0
        isNextFailing = false
    }
}

/// A loss of power that no peer can prove: those that received messages of the lost turn are not those whose entries it consumed.
struct AwaitedLoss {
    /// What the lost turn must have: some event, the record that voided a silent worker's attempt, or the records after the first
    /// entry that is refused for its attempt.
    enum Subject { case event, attemptEnd, refusal }

    var of: Subject
    /// Whether the process ends once more some time later.
    var endsAgain: Bool

    /// Whether these records of a turn should be lost.
    func covers(_ records: [Record]) -> Bool {
        guard !records.contains(where: \.outlivesPower) else { return false }
        return records.contains { record in
            switch of {
            case .event: if case .event = record { true } else { false }
            case .attemptEnd: if case .attemptEnded(let end) = record { end.cause == .unresponsive } else { false }
            case .refusal: false
            }
        }
    }

    /// How many records of a turn remain if the process ends in the middle of its append, or nil if it does not.
    func lengthWhereTorn(_ records: [Record]) -> Int? {
        guard of == .refusal else { return nil }
        let isRefused = { (record: Record) in
            if case .refused(let refusal) = record { refusal.reason == .attempt } else { false }
        }
        guard let first = records.firstIndex(where: isRefused), first + 1 < records.count else { return nil }
        return first + 1
    }
}
