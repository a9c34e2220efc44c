import CBOR

extension ChaosReport {
    private struct Document: Encodable {
        var seed: UInt64
        var seconds: Int64
        var workers: Int
        var reducers: Int?
        var servers: Int?
        var terms: Int?
        var failovers: Int?
        var kills: Int
        var restarts: Int
        var faults: [String: Int]
        var notRun: [String]
        var events: UInt64
        var eventsPerSecond: Double
        var longestPauseSeconds: Double
        var held: Int
        var heldStarts: Int
        var refusals: [String: UInt64]
        var violations: [String]
        var again: String
    }

    /// The report as JSON for programs.
    public var json: String {
        let document = Document(
            seed: plan.seed, seconds: plan.duration.components.seconds, workers: plan.workers,
            reducers: evidence.database.map { _ in plan.reducers },
            servers: evidence.database.map { _ in plan.servers }, terms: evidence.database?.terms,
            failovers: evidence.database?.failovers, kills: kills,
            restarts: restarts,
            faults: Dictionary(uniqueKeysWithValues: evidence.schedule.kinds.map { ($0.rawValue, felt($0)) }),
            notRun: evidence.notRun, events: eventsApplied, eventsPerSecond: throughput.perSecond,
            longestPauseSeconds: throughput.longestGap.inSeconds,
            held: evidence.holding?.heldAtEnd ?? 0, heldStarts: evidence.holding?.starts ?? 0, refusals: refusals,
            violations: violations.map(\.description), again: plan.command)
        return (try? CBOR.json(CBOR.encode(document))) ?? "null"
    }
}
