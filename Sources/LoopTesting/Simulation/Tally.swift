/// What a run counts, for its report and for limits that depend on it.
package struct Tally: Sendable {
    /// Tasks of the agenda that were performed.
    package internal(set) var stepCount = 0
    /// Events that became durable.
    package internal(set) var eventCount = 0
    /// How often each kind of fault took place.
    package internal(set) var faultCounts: [SimulationPlan.Fault: Int] = [:]
    /// How many faults were drawn, also those that were left out or had nothing to break.
    package internal(set) var faultsDrawn = 0
    /// Entries that were accepted into outboxes, each named by the count.
    private(set) var entryCount = 0
    /// How many entries were sent, and how many of them not for the first time.
    private(set) var sentCount = 0
    private(set) var sentAgainCount = 0
    /// How often records were lost with the journal's end.
    var tailsLost = 0
    var historiesBegun = 0
    /// How often a process took the journal over in a database, and how often with a state that it had followed.
    var takeoverCount = 0
    var warmTakeoverCount = 0
    /// How often a process went on with a state that was ahead of the journal.
    var completionCount = 0
    /// How often a statement has changed the database when its process heard nothing more.
    var lateChangeCount = 0

    mutating func nextEntry() -> Int {
        entryCount += 1
        return entryCount
    }

    mutating func countSent(_ count: Int, again: Int) {
        sentCount += count
        sentAgainCount += again
    }

    /// Whether the state may come to ask once more for something that it has asked for.
    var hasLostRecords: Bool { tailsLost > 0 || historiesBegun > 0 || faultCounts[.restored] != nil }

    /// Where nothing is lost, hardly anything is sent twice.
    var isLittleSentAgain: Bool { sentAgainCount <= 50 + sentCount / 5 }
}
