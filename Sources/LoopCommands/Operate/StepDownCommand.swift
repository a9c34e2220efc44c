import Linux
import LoopCore
import LoopNode
import LoopOptions
import LoopWire

/// `loopctl step-down` makes the leader let a standby lead.
enum StepDownCommand {
    static let force = Option(
        flag: "force", help: "step down also if no standby follows closely; the leader writes a snapshot first",
        environment: .none)

    static let subcommand = Subcommand(
        command: Command(
            "step-down", abstract: "Have the reducer that leads let a standby lead.",
            discussion: """
                The leader takes no more events, lets go of the journal and stands by. Running effects go on, and senders send \
                again what was not acknowledged. It is refused unless a standby follows closely: name the addresses of all \
                reducers (--reducer A,B).

                Exit codes: 0 another reducer leads, 1 refused, or none has taken over, 2 no answer, 64 wrong usage.
                """,
            groups: [JournalOptions.group, OptionGroup("Step down", [force])]),
        run: { arguments, _ in
            try Operator.run {
                let members = try arguments.askMembers(within: arguments[JournalOptions.connectTimeout])
                let check = try StepDownCheck(members)
                if let refusal = check.refusal, !arguments[force] {
                    throw AdministrationError.refused("\(refusal); --force steps down all the same")
                }
                let limit = arguments[JournalOptions.timeout]
                var leader = try Operator(reducer: check.leader.address, limit: limit)
                let asked = SystemClock.monotonic
                try leader.order(.stepDown(takesSnapshot: check.refusal != nil || arguments[force], who: Operator.name))
                let successor = try successor(
                    to: check.leader, among: try arguments.reducer, until: asked + limit, limit)
                let took = (SystemClock.monotonic - asked).wholeNanoseconds / 1_000_000
                let isOther = successor.address != check.leader.address
                try StandardOutput.line(
                    "\(successor.address) leads \(isOther ? "" : "again ")in epoch \(successor.report.epoch),"
                        + " \(took) ms after the request")
                return isOther ? 0 : 1
            }
        })

    /// Waits for the reducer of the next epoch.
    private static func successor(
        to leader: StatusProbe.Member, among reducer: ReducerAddress, until deadline: MonotonicTime, _ limit: Duration
    ) throws -> StatusProbe.Member {
        // A reducer that is asked too early does not answer. So ask again soon, and wait longer each time in case the network is
        // slow.
        var patience = Duration.milliseconds(25)
        while true {
            let found = try? StatusProbe.leader(of: reducer, within: patience)
            patience = min(patience * 2, .seconds(1))
            if let found, found.report.epoch > leader.report.epoch { return found }
            guard SystemClock.monotonic < deadline else {
                throw CommandError("\(leader.address) has stepped down, and no reducer has led within \(limit)")
            }
        }
    }
}

/// Checks whether a loop has a standby that could lead at once.
struct StepDownCheck {
    let leader: StatusProbe.Member
    /// Why it has no such standby, or nil if it has one.
    let refusal: String?

    /// How far a standby may lag behind, in records and in milliseconds.
    private static let lagMax: UInt64 = 10_000
    private static let lagMillisecondsMax: Int64 = 1000

    /// - Parameter members: the leader and its standbys.
    /// - Throws: `CommandError` if none of them leads.
    init(_ members: [StatusProbe.Member]) throws(CommandError) {
        guard let leader = members.first(where: \.isLeader) else {
            throw CommandError("no reducer leads: only standbys answer")
        }
        self.leader = leader
        let standbys = members.filter { !$0.isLeader }
        let reasons = standbys.map { Self.reason(against: $0, leader.report) }
        if standbys.isEmpty {
            refusal =
                "no standby answers; name the addresses of all reducers (--reducer A,B), and start one with --standby"
        } else {
            refusal = reasons.contains(nil) ? nil : reasons.compactMap { $0 }.joined(separator: "; ")
        }
    }

    private static func reason(against standby: StatusProbe.Member, _ leader: StatusReport) -> String? {
        let (report, address) = (standby.report, standby.address)
        guard report.loop == leader.loop else { return "\(address) is of the loop \(JSONText.onOneLine(report.loop))" }
        guard var following = report.following else { return "\(address) does not follow: it is of an earlier release" }
        if let cold = following.coldBecause { return "\(address) does not follow: \(JSONText.onOneLine(cold))" }
        // Seqs of different histories cannot be compared.
        guard report.history == leader.history, !report.history.isEmpty else {
            return "\(address) follows another history (\(JSONText.onOneLine(report.history))) than the leader's"
                + " (\(JSONText.onOneLine(leader.history))): give all reducers the same --journal"
        }
        // The standby's own lag may be older than the leader's report.
        following.lag = max(following.lag, leader.seq - min(leader.seq, report.seq))
        if following.lag > lagMax || following.lagMilliseconds ?? .max > lagMillisecondsMax {
            return "\(address) is \(StatusTable.lag(following)) behind (close is up to \(lagMax) records and"
                + " \(lagMillisecondsMax) ms)"
        }
        return nil
    }
}
