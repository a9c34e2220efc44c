import LoopCluster
import LoopCore
import LoopWire

/// The reducer's machine as far as it outlives a process: the disk, what is wrong with it, and which history it holds.
struct Storage {
    /// Nil until the first process starts.
    private(set) var disk: SimulatedDisk?
    /// Where the journal is, if not in a file; its records are those of the disk.
    private(set) var database: SimulatedDatabase?
    /// The history of the newest record.
    private(set) var history = History.none
    var faults = DiskFaults()
    /// The database runs no statement before that.
    var awayUntil: UInt64 = 0
    /// Up to where the checkers know the database, and up to where what has left depends on it.
    var notedPosition: UInt64 = 0
    var toldPosition: UInt64 = 0
    /// The next loss of power that is to go unnoticed; nil: none is wanted.
    var awaitedLoss: AwaitedLoss?
    /// What an older copy of the journal lacks that was put back; nil once a process has started on it.
    private(set) var missing: [Record]?
    /// An older copy of the journal was put back, and no peer has shown yet that something is missing.
    private(set) var isRestored = false
    /// An operator has been told of the loss, and starts the reducer without what is missing.
    var goesOnWithoutLost = false

    /// An empty disk takes the place of the one before.
    mutating func begin(_ history: History, alwaysSyncs: Bool) {
        self.history = history
        disk = SimulatedDisk(history: history, alwaysSyncs: alwaysSyncs)
    }

    /// An empty database.
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

    /// Records are gone from the journal's end: the history may be an earlier one.
    mutating func findHistory(of disk: SimulatedDisk) {
        history = disk.history
        for case .historyBegun(let begun, _) in disk.records { history = begun }
    }

    /// An operator puts an older copy of the journal back.
    /// - Returns: how many records are missing; nil: there is no older copy.
    mutating func restoreCopy() -> Int? {
        guard let lost = disk?.putBackCopy() else { return nil }
        isRestored = true
        missing = lost
        return lost.count
    }

    /// The first process starts on an older copy.
    mutating func takeMissing() -> [Record]? { missing.take() }
}

/// What the next appends meet.
struct DiskFaults {
    var isNextSlow = false
    var isNextFailing = false
    /// Until then the disk has no room.
    var fullUntil: UInt64 = 0

    /// What the present append meets; nil: nothing.
    mutating func takeFailure(at now: UInt64) -> JournalError.Kind? {
        defer { isNextFailing = false }
        return now < fullUntil ? .full : isNextFailing ? .failedDisk : nil
    }

    /// The disk takes every append from here on. One may still be slow.
    mutating func heal() {
        fullUntil = 0
        isNextFailing = false
    }
}

/// A loss of power that no peer can prove: those that heard of the lost turn are not those whose entries it consumed.
struct AwaitedLoss {
    /// What the lost turn has: some event, the record that took an attempt away from a silent worker, or the records after the
    /// first entry that is refused for its attempt.
    enum Subject { case event, attemptEnd, refusal }

    var of: Subject
    /// The process ends once more some time later.
    var endsAgain: Bool

    /// Whether these records of a turn are to be lost.
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

    /// How many records of a turn stand when the process ends in the middle of its append; nil: it does not.
    func lengthWhereTorn(_ records: [Record]) -> Int? {
        guard of == .refusal else { return nil }
        let isRefused = { (record: Record) in
            if case .refused(let refusal) = record { refusal.reason == .attempt } else { false }
        }
        guard let first = records.firstIndex(where: isRefused), first + 1 < records.count else { return nil }
        return first + 1
    }
}
