import LoopCore
import LoopNode
import LoopWire

/// A status report for people.
struct StatusTable {
    private let report: StatusReport
    private let members: [StatusProbe.Member]
    private let silent: [SilentReducer]
    /// The peers that are shown, sorted by name, because a reader looks for a name and the order of joining is chance.
    private let peers: [StatusReport.Peer]
    private let counters: [String: UInt64]

    /// - Parameters:
    ///   - members: all reducers of the loop that have answered.
    ///   - silent: those that have not. Both are shown if there are several.
    ///   - showsAll: whether to show silent peers without effects too, and counters that are 0.
    init(
        _ report: StatusReport, members: [StatusProbe.Member] = [], silent: [SilentReducer] = [], showsAll: Bool = false
    ) {
        self.report = report
        self.members = members
        self.silent = silent
        peers = (showsAll ? report.peers : report.peers.filter { !$0.hasLeft }).sorted { $0.comes(before: $1) }
        counters = showsAll ? report.counters : report.counters.filter { $0.value > 0 }
    }

    /// Sections with a blank line between them, without a line end after the last.
    var text: String {
        if report.isStandby { return [standby, reducers].compactMap { $0 }.joined(separator: "\n\n") }
        return [head, reducers, otherLeaders, warnings, workers, feedbacks, reports, parked, refusals].compactMap { $0 }
            .joined(
                separator: "\n\n")
    }

    private var head: String {
        let ready = report.isReady ? "ready" : "not ready: \(report.notReadyBecause ?? "it does not say why")"
        let uptime = ProgressReading.durationText(seconds: Int(report.uptimeMilliseconds / 1000))
        var lines = [
            "\(report.loop), \(JSONText.onOneLine(ready))",
            "epoch \(report.epoch), seq \(report.seq), \(ProgressReading.rateText(report.eventsPerSecond)) events/s, "
                + "up \(uptime), schema \(report.schema), history \(report.history)",
        ]
        if let fault = Self.fault(report) { lines.append(fault) }
        if let progress = report.progress {
            lines.append(
                "\(progress.done) of \(progress.found) \(progress.unit)" + (progress.note.map { ", \($0)" } ?? ""))
        }
        if let timers = report.timers, let next = report.nextTimer {
            lines.append(
                "\(timers) \(timers == 1 ? "timer is" : "timers are") set, due next at"
                    + " \(WallTime(milliseconds: next).civilText)")
        }
        if let code = report.exitCode { lines.append("ended with exit code \(code)") }
        return lines.joined(separator: "\n")
    }

    /// A standby shows nothing of the loop's state.
    private var standby: String {
        let leader = report.leader.map { "the leader is at \(JSONText.onOneLine($0))" } ?? "it knows no leader"
        return (["\(report.loop), a standby: \(leader)"] + Self.reasons(report)).joined(separator: "\n")
    }

    /// Why a standby would not take over at once, in complete lines.
    private static func reasons(_ report: StatusReport) -> [String] {
        var lines: [String] = []
        if let fault = fault(report) {
            lines.append(fault)
            if let reason = report.notReadyBecause { lines.append(JSONText.onOneLine(reason)) }
        }
        if let cold = report.following?.coldBecause {
            lines.append("it does not follow: \(JSONText.onOneLine(cold))")
        }
        return lines
    }

    /// Why the journal cannot be used, as the reason's name for programs.
    private static func fault(_ report: StatusReport) -> String? {
        guard let fault = report.journalFault else { return nil }
        let parts = [
            "the journal: \(fault.reason.rawValue)", fault.sqlState.map { "SQLSTATE \(JSONText.onOneLine($0))" },
            fault.host.map { "host \(JSONText.onOneLine($0))" },
            report.journalFaultMilliseconds.map { "for \(ProgressReading.durationText(seconds: Int($0 / 1000)))" },
        ]
        return parts.compactMap { $0 }.joined(separator: ", ")
    }

    private var reducers: String? {
        guard members.count + silent.count > 1 else { return nil }
        var rows = members.map { member -> [String] in
            let report = member.report
            guard report.isStandby else {
                return [
                    "\(member.address)", "leader", "\(report.epoch)", "\(report.seq)", "-",
                    report.journalLease.map {
                        "lease \($0.milliseconds) ms, proven \($0.provenMillisecondsAgo) ms ago"
                    } ?? "",
                ]
            }
            let isWarm = report.following.map { $0.coldBecause == nil } ?? false
            let leader = report.leader.map { "follows \(JSONText.onOneLine($0))" } ?? "knows no leader"
            return [
                "\(member.address)", "standby", "-", isWarm ? "\(report.seq)" : "-",
                report.following.map(Self.lag) ?? "-",
                leader + (report.following?.coldBecause == nil ? "" : ", cold")
                    + (report.journalFault.map { ", \($0.reason.rawValue)" } ?? ""),
            ]
        }
        rows += silent.map { ["\($0.address)", "-", "-", "-", "-", "no answer"] }
        // A reason is never cut off, so it has its own lines below the table.
        var reasons = members.dropFirst(self.report == members[0].report ? 1 : 0).flatMap { member in
            Self.reasons(member.report).map { "\(member.address): \($0)" }
        }
        reasons += silent.map { "\($0.address): no answer: \(JSONText.onOneLine($0.why))" }
        let table = Self.table(["REDUCER", "ROLE", "EPOCH", "SEQ", "LAG", ""], rows, left: [0, 1, 5])
        return ([table] + reasons).joined(separator: "\n")
    }

    /// How far a standby lags behind the journal.
    static func lag(_ following: StatusReport.Following) -> String {
        guard following.coldBecause == nil else { return "-" }
        let records = following.lag == 1 ? "1 record" : "\(following.lag) records"
        return records + (following.lagMilliseconds.map { ", \($0) ms" } ?? "")
    }

    /// A warning if two reducers lead. They have two journals, or one of them is deposed and does not know it yet.
    private var otherLeaders: String? {
        let leaders = members.filter { $0.isLeader && !$0.report.history.isEmpty }
        if Set(leaders.map(\.report.history)).count > 1 {
            return "WARNING: REDUCERS LEAD WITH DIFFERENT HISTORIES: \(Self.names(of: leaders)); give all of them the"
                + " same --journal"
        }
        return Self.twoLeaders(among: members).map {
            "WARNING: TWO REDUCERS LEAD: \($0); if that is so for longer than a moment, they keep copies of one journal: stop one of"
                + " them, and give both the same --journal"
        }
    }

    /// The reducers that say at the same time that they lead and commit events, if there are several.
    static func twoLeaders(among members: [StatusProbe.Member]) -> String? {
        let leaders = members.filter { $0.isLeader && $0.report.isReady }
        guard Set(leaders.map(\.state.epoch)).count > 1 else { return nil }
        return names(of: leaders)
    }

    private static func names(of leaders: [StatusProbe.Member]) -> String {
        leaders.map { "\($0.address) in epoch \($0.report.epoch) of history \($0.report.history)" }
            .joined(separator: ", ")
    }

    private var warnings: String? {
        report.warnings.isEmpty ? nil : report.warnings.map { "WARNING: \($0)" }.joined(separator: "\n")
    }

    private var workers: String? {
        let hidden = report.peers.count - peers.count
        let note = hidden == 0 ? nil : "\(hidden) silent without effects: --all shows them"
        if peers.isEmpty { return "no workers" + (note.map { ", \($0)" } ?? "") }
        let rows = peers.map { peer -> [String] in
            [
                peer.name.isEmpty ? peer.peer : JSONText.onOneLine(peer.name), "\(peer.session)",
                peer.capacity == 0 ? "-" : "\(peer.leases)/\(peer.capacity)", Self.lease(peer.leaseMilliseconds),
                "\(peer.lag)", "\(peer.completed)",
                peer.groups.isEmpty ? "-" : JSONText.onOneLine(peer.groups.joined(separator: ",")),
            ]
        }
        return Self.table(
            ["WORKER", "SESSION", "EFFECTS", "LEASE", "LAG", "COMPLETED", "GROUPS"], rows, left: [0, 6])
            + (note.map { "\n\($0)" } ?? "") + Self.more(report.peersLeftOut)
    }

    private var feedbacks: String? {
        let rows = report.feedbacks.map {
            [$0.name, "\($0.running)", "\($0.waiting)", "\($0.completed)", "\($0.parked)"]
        }
        return rows.isEmpty
            ? nil : Self.table(["FEEDBACK", "RUNNING", "WAITING", "COMPLETED", "PARKED"], rows, left: [0])
    }

    /// The progress that effects have reported. It is hidden if there is none.
    private var reports: String? {
        let rows = (report.effectReports ?? []).map {
            [
                $0.effect, JSONText.onOneLine($0.feedback), "\($0.session)",
                "\(Int(exactly: ($0.fraction * 100).rounded()).map(String.init) ?? "?") %",
                JSONText.onOneLine($0.text),
            ]
        }
        return rows.isEmpty
            ? nil
            : Self.table(["RUNNING EFFECT", "FEEDBACK", "SESSION", "DONE", "PROGRESS"], rows, left: [0, 1, 4])
                + Self.more(report.effectReportsLeftOut)
    }

    private var parked: String? {
        let rows = report.parked.map { [$0.effect, $0.feedback, "\($0.failures)", $0.message] }
        return rows.isEmpty
            ? nil
            : Self.table(["PARKED EFFECT", "FEEDBACK", "FAILURES", "LAST"], rows, left: [0, 1, 3])
                + Self.more(report.parkedLeftOut)
    }

    /// How many rows did not fit into the report.
    private static func more(_ count: Int?) -> String { count.map { "\n… and \($0) more" } ?? "" }

    private var refusals: String? {
        let rows = counters.sorted { $0.key < $1.key }.map { [$0.key, "\($0.value)"] }
        return rows.isEmpty ? nil : Self.table(["DROPPED OR REFUSED", "TIMES"], rows, left: [0])
    }

    private static func lease(_ milliseconds: Int64) -> String {
        if milliseconds < 0 { return "over" }
        let tenths = (milliseconds.magnitude + 50) / 100
        return "\(tenths / 10).\(tenths % 10) s"
    }

    /// Columns two spaces apart. Columns that are not in `left` have numbers.
    static func table(_ titles: [String], _ rows: [[String]], left: Set<Int>) -> String {
        let all = [titles] + rows
        let widths = titles.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            let cells = row.enumerated().map { column, cell in
                let space = String(repeating: " ", count: widths[column] - cell.count)
                return left.contains(column) ? cell + space : space + cell
            }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }
}

extension StatusReport.Peer {
    /// Whether the peer has been silent for longer than the limit, and has no effects.
    fileprivate var hasLeft: Bool { leaseMilliseconds < 0 && leases == 0 }

    /// Orders peers by name, and those without a name last.
    fileprivate func comes(before other: Self) -> Bool {
        if name.isEmpty != other.name.isEmpty { return other.name.isEmpty }
        return (name, session) < (other.name, other.session)
    }
}
