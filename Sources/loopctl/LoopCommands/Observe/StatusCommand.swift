import CBOR
import Glibc
import Linux
import LoopCore
import LoopNode
import LoopWire

/// `loopctl status` shows what the reducer reports about itself.
enum StatusCommand {
    static let json = Option(
        flag: "json", help: "print the report as one JSON document", environment: .variable("LOOP_STATUS_JSON"))
    static let all = Option(
        flag: "all", help: "show silent peers without effects too, and counters that are 0",
        environment: .variable("LOOP_STATUS_ALL"))

    static let subcommand = Subcommand(
        command: Command(
            "status", abstract: "Show what a reducer is doing.",
            discussion: """
                Epoch and seq, events per second, progress, workers with their effects, leases and lag, live effects of \
                each feedback, and how often anything was dropped or refused, by reason.

                Exit codes: 0 answered, 2 no answer, 64 wrong usage.
                """,
            groups: [ConnectionOptions.group, OptionGroup("Output", [json, all])]),
        run: { arguments, _ in
            let limit = arguments[ConnectionOptions.timeout]
            if arguments[json] {
                try StandardOutput.line(try CBOR.json(CBOR.encode(try arguments.askStatus(within: limit))))
            } else {
                try StandardOutput.line(try arguments.askTable(within: limit).text)
            }
            return 0
        })
}

/// `loopctl ready` says whether events are being committed and read, for health checks.
enum ReadyCommand {
    static let subcommand = Subcommand(
        command: Command(
            "ready", abstract: "Tell whether a reducer commits events and is read; for health checks.",
            discussion: """
                Says nothing but the warnings of status and why it is not ready. With several addresses, a loop of which \
                two reducers lead for longer than a lease, or than --timeout if that is shorter, is not ready.

                Exit codes: 0 ready, 1 not ready, 2 no answer, 64 wrong usage.
                """,
            groups: [ConnectionOptions.group]),
        run: { arguments, _ in
            let report = try arguments.askStatus(within: arguments[ConnectionOptions.timeout])
            for warning in report.warnings { StandardError.line("loopctl: WARNING: \(warning)") }
            guard report.isReady else {
                StandardError.line("loopctl: \(report.notReadyLine)")
                return 1
            }
            guard let (leaders, advice) = try lastingLeaders(arguments) else { return 0 }
            StandardError.line("loopctl: \(report.loop) is not ready: two reducers lead: \(leaders); \(advice)")
            return 1
        })

    /// The reducers that lead, if several do for longer than a lease: within a lease, a deposed one may not know it yet.
    static func lasting(_ first: [StatusProbe.Member], _ later: [StatusProbe.Member]) -> String? {
        let before = Set(first.filter(\.isLeader).map(\.state.epoch))
        return StatusTable.twoLeaders(among: later.filter { before.contains($0.state.epoch) })
    }

    /// Within that time a deposed leader learns that it is.
    static func lease(of members: [StatusProbe.Member]) -> Duration {
        max(.milliseconds(members.compactMap { $0.report.journalLease?.milliseconds }.max() ?? 1000), .zero)
    }

    /// Asks twice whether several reducers lead.
    /// - Returns: these, and what to do; or nil if that is not so.
    static func lastingLeaders(_ arguments: ParsedArguments) throws -> (leaders: String, advice: String)? {
        guard try arguments.reducer.each.count > 1 else { return nil }
        let limit = arguments[ConnectionOptions.timeout]
        let first = try arguments.askMembers(within: limit)
        guard let leaders = StatusTable.twoLeaders(among: first) else { return nil }
        let lease = lease(of: first)
        let wait = min(lease, limit)
        StandardError.line("loopctl: two reducers lead: \(leaders); they are asked again in \(wait.text)")
        // No event tells a tool that a leader has learnt of it.
        usleep(UInt32(clamping: wait.wholeNanoseconds / 1000))
        let advice =
            wait < lease
            ? "one of them may be deposed and not know it yet; give --timeout a lease, \(lease.text), or more"
            : "they keep different journals, or copies of one: stop one of them, and give both the same --journal"
        return lasting(first, try arguments.askMembers(within: limit)).map { ($0, advice) }
    }
}

extension StatusReport {
    /// A line for people that says why the reducer is not ready, with the name of the journal's fault.
    var notReadyLine: String {
        let fault = journalFault.map { " (\($0.reason.rawValue))" } ?? ""
        return "\(loop) is not ready\(fault): \(notReadyBecause ?? "it does not say why")"
    }
}
