import CBOR
import Glibc
import Linux
import LoopNode
import LoopOptions
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
                let members = try arguments.askMembers(within: limit)
                try StandardOutput.line(
                    StatusTable(members[0].report, members: members, showsAll: arguments[all]).text)
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
                Says nothing but the warnings of status and a line of why not. With several addresses, a loop of which \
                two reducers lead for longer than a lease is not ready.

                Exit codes: 0 ready, 1 not ready, 2 no answer, 64 wrong usage.
                """,
            groups: [ConnectionOptions.group]),
        run: { arguments, _ in
            let report = try arguments.askStatus(within: arguments[ConnectionOptions.timeout])
            for warning in report.warnings { StandardError.line("loopctl: WARNING: \(warning)") }
            guard report.isReady else {
                let fault = report.journalFault.map { " (\($0.reason.rawValue))" } ?? ""
                StandardError.line(
                    "loopctl: \(report.loop) is not ready\(fault): \(report.notReadyBecause ?? "it does not say why")")
                return 1
            }
            guard let leaders = try lastingLeaders(arguments) else { return 0 }
            StandardError.line(
                "loopctl: \(report.loop) is not ready: two reducers lead: \(leaders); they keep different journals, or copies of one:"
                    + " stop one of them, and give both the same --journal")
            return 1
        })

    /// The reducers that lead, if several do for longer than a lease: within a lease, a deposed one may not know it yet.
    private static func lastingLeaders(_ arguments: ParsedArguments) throws -> String? {
        guard try arguments.reducer.each.count > 1 else { return nil }
        let limit = arguments[ConnectionOptions.timeout]
        let first = try arguments.askMembers(within: limit)
        guard StatusTable.twoLeaders(among: first) != nil else { return nil }
        let lease = first.compactMap { $0.report.journalLease?.milliseconds }.max() ?? 1000
        // A deposed leader learns of it within its lease. No event tells a tool that it has.
        usleep(UInt32(clamping: lease * 1000))
        return StatusTable.twoLeaders(among: try arguments.askMembers(within: limit))
    }
}
