import Foundation
import LoopNode

/// Runs the cases, prints the table, writes the results.
@main
enum LoopBench {
    static let groups: [CaseGroup] =
        [
            .window4096, .durable4096, .replay, .window1, .durable1, .effectRoundTrip, .effects256, .effects4096,
        ]
        + CaseGroup.curve + CaseGroup.inProcess + CaseGroup.coding + CaseGroup.dictionaries + CaseGroup.large
        + CaseGroup.scale + [.timers]
        + CaseGroup.journalAppends + [.journalReads] + CaseGroup.database + CaseGroup.failover
        + [.stepDown] + CaseGroup.standby

    static func main() async {
        do {
            let options = try BenchmarkOptions(Array(CommandLine.arguments.dropFirst()))
            if let role = options.role {
                try await role.run()
            } else if options.showsHelp {
                print(BenchmarkOptions.help)
            } else {
                do {
                    try await run(options)
                } catch {
                    await Databases.shared.end()
                    throw error
                }
                await Databases.shared.end()
            }
        } catch let error as BenchmarkError {
            StandardError.line("loop-bench: \(error)")
            if case .usage = error { exit(64) }
            exit(1)
        } catch {
            StandardError.line("loop-bench: \(error)")
            exit(1)
        }
    }

    private static func run(_ options: BenchmarkOptions) async throws {
        let peers = try options.peers.map { try PeerPrograms(folder: $0) }
        let chosen = (peers?.groups ?? groups).compactMap { $0.only(options.only) }
        guard !chosen.isEmpty else { throw BenchmarkError.usage("no case is named like \(options.only)") }
        let effort = Effort(scale: options.scale, folder: options.folder)
        let before = HostShare()
        var results: [CaseResult] = []
        var leftOut: [String] = []
        for group in chosen {
            let names = group.ours.map(\.name).joined(separator: ", ")
            StandardError.line(names)
            do {
                results += try await group.run(rounds: min(options.rounds, group.rounds), effort: effort) {
                    StandardError.line("  " + $0)
                }
            } catch let error as BenchmarkError {
                guard case .leftOut = error else { throw error }
                StandardError.line("  \(error)")
                leftOut.append("\(names) \(error)")
            }
        }
        print(Table.text(results))
        for line in leftOut { print(line) }
        print(
            "\(options.rounds) rounds, load \(load) at the end,"
                + " \(ProcessInfo.processInfo.activeProcessorCount) CPUs,"
                + " of which a host took \(HostShare().percent(since: before)) %")
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(results).write(to: URL(fileURLWithPath: options.output))
    }

    /// The machine's load average over the last minute.
    private static var load: String {
        let text = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)) ?? "unknown"
        return String(text.prefix { $0 != " " })
    }
}

extension CaseGroup {
    /// The group with the cases whose name contains `part`, or nil if there are none.
    fileprivate func only(_ part: String) -> CaseGroup? {
        let kept = part.isEmpty ? ours : ours.filter { $0.name.contains(part) }
        return kept.isEmpty ? nil : CaseGroup(unit: unit, references: references, ours: kept, rounds: rounds)
    }
}
