import Linux
import LoopCore
import LoopNode
import LoopWire

/// `loopctl step-down` makes the leader let a standby lead.
enum StepDownCommand {
    static let force = Option(
        flag: "force", help: "step down also if no standby follows closely; the leader writes a snapshot first",
        environment: .none)

    static let to = Option(
        optional: "to", .reducerAddress, help: "the standby that is to lead next: the others leave the journal to it",
        environment: .none)
    /// For how long other standbys leave the journal to the one that is named, in milliseconds. Then a loop without it goes on, even
    /// if this command was interrupted.
    private static let standBackMilliseconds: UInt64 = 10_000
    /// For how long they leave it at first if the leader writes a snapshot, in milliseconds.
    private static let snapshotMilliseconds: UInt64 = 60_000
    /// How often they are asked again while the successor is waited for.
    private static let renewalInterval = Duration.seconds(3)

    static let subcommand = Subcommand(
        command: Command(
            "step-down", abstract: "Have the reducer that leads let a standby lead.",
            discussion: """
                The leader takes no more events, lets go of the journal and stands by. Running effects go on, and senders send \
                again what was not acknowledged. It is refused unless a standby follows closely: name the addresses of all \
                reducers (--reducer A,B). With --to the named one leads next, or the answer says why not.

                Exit codes: 0 another reducer leads (with --to, the named one), 1 refused, or it does not, 2 no answer, 64 wrong usage.
                """,
            groups: [JournalOptions.group, OptionGroup("Step down", [to, force])]),
        run: { arguments, _ in
            let limit = arguments[JournalOptions.timeout]
            var asked: [ReducerAddress] = []
            // The named one leads, or the others may: nothing is lost if one of them does not hear it.
            defer {
                for other in asked { try? standBack(other, 0, min(limit, .seconds(5))) }
            }
            return try Operator.run {
                let reducer = try arguments.reducer
                let members = try arguments.askMembers(within: arguments[JournalOptions.connectTimeout])
                let check = try StepDownCheck(members, of: reducer.each, to: arguments[to])
                if let refusal = check.refusal, !arguments[force] {
                    throw AdministrationError.refused("\(refusal); --force steps down all the same")
                }
                let takesSnapshot = check.refusal != nil || arguments[force]
                for other in check.others {
                    asked.append(other)
                    let milliseconds = takesSnapshot ? snapshotMilliseconds : standBackMilliseconds
                    try standBack(other, milliseconds, min(limit, .seconds(5)))
                }
                var leader = try Operator(reducer: check.leader.address, limit: limit)
                let began = SystemClock.monotonic
                try leader.order(.stepDown(takesSnapshot: takesSnapshot, who: Operator.name))
                let successor = try successor(to: check, among: reducer, since: began, limit)
                let took = (SystemClock.monotonic - began).wholeNanoseconds / 1_000_000
                let isOther = successor.address != check.leader.address
                try StandardOutput.line(
                    "\(successor.address) leads \(isOther ? "" : "again ")in epoch \(successor.report.epoch),"
                        + " \(took) ms after the request")
                if let named = check.named, successor.address != named {
                    throw AdministrationError.refused(
                        "\(named) has not led within the time that the others have left it")
                }
                return isOther ? 0 : 1
            }
        })

    /// Asks a standby to leave the journal to the one that is named.
    private static func standBack(_ other: ReducerAddress, _ milliseconds: UInt64, _ limit: Duration) throws {
        var call = try AdministrationCall(reducer: other)
        do {
            _ = try call.ask(.standBack(milliseconds: milliseconds, who: Operator.name), \.done, within: limit)
        } catch {
            throw AdministrationError.refused("\(other) does not leave the journal to it: \(error)")
        }
    }

    /// Waits for the next epoch, and keeps the other standbys waiting meanwhile.
    private static func successor(
        to check: StepDownCheck, among reducer: ReducerAddress, since began: MonotonicTime, _ limit: Duration
    ) throws -> StatusProbe.Member {
        let leader = check.leader
        var renewsAt = began + renewalInterval
        // A reducer that is asked too early does not answer. So ask again soon, and wait longer each time in case the network is
        // slow.
        var patience = Duration.milliseconds(25)
        while true {
            let found = try? StatusProbe.leader(of: reducer, within: patience)
            patience = min(patience * 2, .seconds(1))
            if let found, found.report.epoch > leader.report.epoch { return found }
            guard SystemClock.monotonic < began + limit else {
                throw CommandError("\(leader.address) has stepped down, and no reducer has led within \(limit)")
            }
            guard SystemClock.monotonic >= renewsAt else { continue }
            for other in check.others { try? standBack(other, standBackMilliseconds, min(limit, .seconds(1))) }
            renewsAt = SystemClock.monotonic + renewalInterval
        }
    }
}

/// Checks whether a loop has a standby that could lead at once.
struct StepDownCheck {
    let leader: StatusProbe.Member
    /// The standby that is to lead next, or nil if any may.
    let named: ReducerAddress?
    /// The standbys that are to leave the journal to it.
    let others: [ReducerAddress]
    /// Why no standby could lead at once, or nil if one could.
    let refusal: String?

    /// How far a standby may lag behind, in records and in milliseconds.
    private static let lagMax: UInt64 = 10_000
    private static let lagMillisecondsMax: Int64 = 1000

    /// - Parameters:
    ///   - members: the leader and its standbys that have answered.
    ///   - asked: the reducers that were asked.
    ///   - address: the standby that is to lead next, or nil if any may.
    /// - Throws: if none of them leads, or the named one is not among the standbys.
    init(_ members: [StatusProbe.Member], of asked: [ReducerAddress] = [], to address: ReducerAddress? = nil) throws {
        guard let leader = members.first(where: \.isLeader) else {
            throw CommandError("no reducer leads: only standbys answer")
        }
        self.leader = leader
        var standbys = members.filter { !$0.isLeader }
        if let address {
            let named = standbys.filter { $0.address.description == address.description }
            guard let first = named.first else {
                let found = standbys.map { "\($0.address)" }.joined(separator: ", ")
                throw AdministrationError.refused(
                    leader.address.description == address.description
                        ? "\(address) leads already"
                        : "no standby answers at \(address); those that do: \(found.isEmpty ? "none" : found)")
            }
            self.named = first.address
            others = standbys.filter { $0.address != first.address }.map(\.address)
            standbys = named
        } else {
            (named, others) = (nil, [])
        }
        let silent = address == nil ? [] : asked.filter { one in !members.contains { $0.address == one } }
        let reasons = standbys.map { Self.reason(against: $0, leader.report) }
        if standbys.isEmpty {
            refusal =
                "no standby answers; name the addresses of all reducers (--reducer A,B), and start one with --standby"
        } else if !silent.isEmpty {
            refusal =
                "\(silent.map(\.description).joined(separator: ", ")) does not answer, and would not leave the journal to it;"
                + " take it out of --reducer if it does not run"
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
        guard let age = following.lagMilliseconds else {
            return "\(address) has not caught up with the journal yet: ask again"
        }
        if following.lag > lagMax || age > lagMillisecondsMax {
            return "\(address) is \(StatusTable.lag(following)) behind (close is up to \(lagMax) records and"
                + " \(lagMillisecondsMax) ms)"
        }
        return nil
    }
}
