/// The result of a run: the faults, the work that was done meanwhile, and the violations.
package struct ChaosReport: Sendable {
    package let plan: ChaosPlan
    package let violations: [Violation]
    let evidence: Evidence
    let throughput: Throughput

    init(_ plan: ChaosPlan, _ evidence: Evidence) {
        self.plan = plan
        self.evidence = evidence
        violations = Check.all.flatMap { $0.violations(in: evidence) }
        throughput = evidence.throughput
    }

    package var isClean: Bool { violations.isEmpty }

    /// How often a kind of fault took effect.
    package func felt(_ kind: FaultKind) -> Int { evidence.felt[kind] ?? 0 }

    package var kills: Int { FaultKind.allCases.reduce(0) { $0 + ($1.isKill ? felt($1) : 0) } }
    /// The number of starts after the first of each process.
    package var restarts: Int { evidence.starts.values.reduce(0) { $0 + $1 - 1 } }
    /// Events applied in the whole run.
    package var eventsApplied: UInt64 { evidence.seq }
    package var eventsPerSecond: Double { throughput.perSecond }

    /// The reducer's refusals and drops by reason: the sum of the last known counters of each epoch.
    package var refusals: [String: UInt64] { evidence.counters.filter { $0.value > 0 } }

    /// The report for people: a line for each number, then the violations, then the command that repeats the run.
    package var text: String {
        var lines = [
            "seed \(plan.seed), \(plan.duration.shown), \(ChaosPlan.workers) workers, \(ChaosPlan.clients) clients"
        ]
        lines.append("kills \(kills), restarts \(restarts)")
        for kind in evidence.schedule.kinds { lines.append("  \(kind.rawValue): \(felt(kind))") }
        for part in evidence.notRun { lines.append("  not run: \(part)") }
        lines += eventLines
        if let database = evidence.database {
            lines.append(
                "\(plan.reducers) reducers: \(database.terms) terms in \(database.batches.count) rows; \(plan.servers) servers of the"
                    + " database: \(database.failovers) failovers")
        }
        lines.append("refused or dropped by the reducer:")
        for (name, count) in refusals.sorted(by: { $0.key < $1.key }) { lines.append("  \(name): \(count)") }
        if let replay = evidence.replay { lines.append("replay: verify ended with \(replay.verify)") }
        lines.append(isClean ? "0 violations" : "\(violations.count) violations:")
        lines += violations.map { "  \($0)" }
        lines.append("again: \(plan.command)")
        return lines.joined(separator: "\n")
    }

    private var eventLines: [String] {
        var lines: [String] = []
        let outcomes = evidence.clients.values
        let applied = outcomes.count { if case .applied = $0 { true } else { false } }
        let refused = outcomes.count { if case .refused = $0 { true } else { false } }
        lines.append(
            "events applied \(eventsApplied), \(throughput.perSecond.shown) a second; longest pause "
                + throughput.longestGap.shown)
        if let slowest = throughput.slowestWindow {
            lines.append(
                "  of \(throughput.windows) windows of \(Throughput.windowLength.shown) without faults of the reducer the "
                    + "slowest had \(slowest.shown) a second")
        }
        let returns = Throughput.returns(after: evidence.reducerLives, evidence.samples)
        if let longest = returns.last {
            lines.append(
                "  after \(returns.count) restarts of the reducer: new events after \(returns[returns.count / 2].shown) at the "
                    + "median, \(longest.shown) at most")
        }
        lines.append(
            "  of clients: \(applied) applied, \(refused) refused, \(outcomes.count - applied - refused) not told")
        if let state = evidence.state {
            let attempts = evidence.pages.values.reduce(0) { sum, page in
                sum + page.count { if case .begun = $0.note { true } else { false } }
            }
            lines.append(
                "  deposits: \(state.booked.count) booked, \(state.cancelled.count) cancelled, \(state.late) cancelled "
                    + "too late; \(attempts) attempts, \(state.resumed) took over from one that had begun")
        }
        if let holding = evidence.holding {
            lines.append(
                "  held: \(holding.heldAtEnd) effects of \(holding.count) after the last fault, by one worker; "
                    + "\(holding.starts) starts in \(holding.lives.count) lives of its process")
        }
        return lines
    }
}
