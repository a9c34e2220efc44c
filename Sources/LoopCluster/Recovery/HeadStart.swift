internal import LoopCore

/// How long a process leaves a free journal to other processes, which may have followed it further. It is a time for each record
/// that this process has to replay, and two leases at most.
package struct HeadStart: Sendable {
    private let lease: Duration
    private let perRecord: Duration
    private let rules: BrokenRules

    /// - Parameters:
    ///   - lease: the lease of the journal.
    ///   - perRecord: about how long a record takes to replay.
    ///   - rules: the rules that a machine under test breaks.
    package init(
        lease: Duration, perRecord: Duration = .microseconds(100), breaking rules: BrokenRules = BrokenRules()
    ) {
        self.lease = lease
        self.perRecord = perRecord
        self.rules = rules
    }

    /// - Parameter lag: the number of records to replay.
    package func duration(behind lag: UInt64) -> Duration {
        rules.contains(.closestStandbysLead) ? .zero : min(perRecord * Int(min(lag, 1 << 24)), lease * 2)
    }

    /// - Parameters:
    ///   - position: the position of the newest record that this process has followed, or 0.
    ///   - newest: the position of the journal's newest record.
    ///   - snapshot: the position of the newest snapshot, from which this process could begin, or 0 if there is none.
    package func duration(from position: UInt64, to newest: UInt64, snapshot: UInt64 = 0) -> Duration {
        // If this process has followed records beyond the newest one, they are gone, and it has to begin again.
        let reached = max(position > newest ? 0 : position, min(snapshot, newest))
        return duration(behind: newest - reached)
    }
}
