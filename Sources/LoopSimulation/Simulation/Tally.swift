/// The counts of a run, for its report and for limits that depend on it.
package struct Tally: Sendable {
    /// The number of performed tasks of the agenda.
    package internal(set) var stepCount = 0
    /// The number of events that became durable.
    package internal(set) var eventCount = 0
    /// How often each kind of fault took place.
    package internal(set) var faultCounts: [SimulationPlan.Fault: Int] = [:]
    /// The number of drawn faults, even those that were omitted or had nothing to break.
    package internal(set) var faultsDrawn = 0
    /// The number of entries that were accepted into outboxes. It is also the id of the newest.
    private(set) var entryCount = 0
    /// The number of entries that were sent, and how many of them were sent again.
    private(set) var sentCount = 0
    private(set) var sentAgainCount = 0
    /// How often records were lost with the journal's end.
    var tailsLost = 0
    var historiesBegun = 0
    /// How often a process took over a journal in a database, and how often with a state that it had followed.
    package internal(set) var takeoverCount = 0
    package internal(set) var warmTakeoverCount = 0
    /// How often it appended records for which an earlier term had no receipt.
    package internal(set) var completionCount = 0
    /// How often a statement changed the database after its process had stopped receiving answers.
    package internal(set) var lateChangeCount = 0

    /// Adds the counts of another run that a report shows.
    mutating func add(_ other: Tally) {
        eventCount += other.eventCount
        faultCounts.merge(other.faultCounts, uniquingKeysWith: +)
        takeoverCount += other.takeoverCount
        warmTakeoverCount += other.warmTakeoverCount
        completionCount += other.completionCount
        lateChangeCount += other.lateChangeCount
    }

    mutating func nextEntry() -> Int {
        entryCount += 1
        return entryCount
    }

    mutating func countSent(_ count: Int, again: Int) {
        sentCount += count
        sentAgainCount += again
    }

    /// Whether the state may request something again that it has already requested.
    var hasLostRecords: Bool { tailsLost > 0 || historiesBegun > 0 || faultCounts[.restored] != nil }

    /// Whether hardly anything was sent twice, as it must be if nothing is lost.
    var isLittleSentAgain: Bool { sentAgainCount <= 50 + sentCount / 5 }
}
