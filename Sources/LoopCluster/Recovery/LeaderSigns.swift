package import LoopCore

/// What a standby has heard of the leader, by which it judges the server that it reads. That server may be behind the leader's, or
/// may have gone on alone.
package struct LeaderSigns: Sendable {
    /// The end of the leader's journal, and the time of its last renewal. Nil if no renewal was seen, as always if the journal is a
    /// file.
    package private(set) var heard: (end: RowEnd, at: MonotonicTime)?
    /// How many renewals were seen since records were read. The second one was requested after those were read, so if they are
    /// lost, the leader's journal ends there without them.
    private var count = 0
    /// The position of the newest record that was read.
    private var position: UInt64 = 0
    private let lease: Duration
    private let rules: BrokenRules

    /// - Parameters:
    ///   - lease: the lease of the journal.
    ///   - rules: the rules that a machine under test breaks.
    package init(lease: Duration, breaking rules: BrokenRules = BrokenRules()) {
        self.lease = lease
        self.rules = rules
    }

    /// Notes a renewal of the leader, whose journal has this end.
    package mutating func hear(_ end: RowEnd, at now: MonotonicTime) {
        heard = (end, now)
        count += 1
    }

    /// Notes the position of the newest record that was read, which is lower after a beginning from a snapshot.
    package mutating func reach(_ position: UInt64) {
        if position > self.position { count = 0 }
        self.position = position
    }

    /// Whether a journal has all that the leader has. The leader's renewal must be within its lease, and later than the newest
    /// records that were read.
    package func isCurrent(_ journal: any FollowedJournal, at now: MonotonicTime) throws(JournalError) -> Bool {
        if !journal.mayLag || rules.contains(.lossIsTheLeaders) { return true }
        guard let heard, count > 1, isFresh(heard.at, at: now) else { return false }
        return try journal.end(ofRowAt: heard.end.position) == heard.end
    }

    /// The time at which a reader had everything after a look that found nothing new, or nil if that is not known. It is the time
    /// when the look began, or that of the leader's last renewal if that is too long ago.
    package func levelTime(_ journal: any FollowedJournal, lookedAt began: MonotonicTime) -> MonotonicTime? {
        guard journal.mayLag else { return began }
        return heard.map { isFresh($0.at, at: began) ? began : $0.at }
    }

    private func isFresh(_ renewal: MonotonicTime, at now: MonotonicTime) -> Bool {
        now - renewal <= HolderWatch.silence(ofLease: lease)
    }

    /// How many records of the leader are known, and were not read.
    package var lag: UInt64 {
        guard let heard, !rules.contains(.lagIsTheLeaders) else { return 0 }
        return heard.end.position - min(heard.end.position, position)
    }
}

/// Whether the journal that a standby reads keeps up with the leader's. It begins again with each journal that is opened.
package struct SourceWatch: Sendable {
    /// The newest end of the leader's journal that was found in this one.
    private var found: RowEnd?
    private var behindSince: MonotonicTime?
    private let rules: BrokenRules

    /// How long the journal may be behind the leader's before another one is read.
    private static var patience: Duration { .seconds(1) }

    /// - Parameter rules: the rules that a machine under test breaks.
    package init(breaking rules: BrokenRules = BrokenRules()) { self.rules = rules }

    /// Judges the journal after a look that has read all of it.
    /// - Parameters:
    ///   - heard: the end of the leader's journal, or nil if it is not known.
    ///   - began: when the look began.
    ///   - contains: whether the journal has a row with that end.
    /// - Returns: whether the journal has all that the leader has.
    package mutating func hasAll(
        through heard: RowEnd?, at began: MonotonicTime, _ contains: (RowEnd) throws -> Bool
    ) rethrows -> Bool {
        // An equal number of records may be different ones, because an old primary may have continued alone.
        if let heard, heard != found, try contains(heard) { found = heard }
        let hasAll = heard == nil || heard == found || rules.contains(.lagIsTheLeaders)
        behindSince = hasAll ? nil : behindSince ?? began
        return hasAll
    }

    /// Whether the journal has been behind for so long that another one is to be read.
    package func isStill(at now: MonotonicTime) -> Bool { behindSince.map { now - $0 > Self.patience } ?? false }
}
