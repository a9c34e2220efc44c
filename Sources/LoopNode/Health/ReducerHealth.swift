import CBOR
import LoopCluster
import LoopCollections
import LoopCore
import LoopWire

/// Asks a reducer's thread for its status, and makes a report of it.
final class ReducerHealth: HealthSource {
    private let desk: StatusDesk
    private let meter: ReducerMeter
    private let steps: StepWatch
    /// The names of the feedbacks that have queries, in their order.
    private let queries: [String]
    private let loop: String
    /// The journal's name, without credentials.
    private let journal: String
    private let tracer: Tracer?
    /// The history that was known last. While the journal cannot be used, the status has none.
    private let history = Locked<String?>(nil)

    init(
        _ desk: StatusDesk, _ meter: ReducerMeter, _ steps: StepWatch, queries: [String], loop: String, journal: String,
        tracer: Tracer?
    ) {
        self.tracer = tracer
        self.steps = steps
        self.queries = queries
        self.desk = desk
        self.meter = meter
        self.loop = loop
        self.journal = journal
    }

    func ask() -> any HealthInquiry { Inquiry(self) }

    private final class Inquiry: HealthInquiry {
        private let health: ReducerHealth
        private let number: UInt64

        init(_ health: ReducerHealth) {
            self.health = health
            number = health.desk.ask()
        }

        deinit { health.desk.forget(number) }

        func report() -> HealthReport? {
            guard let document = health.desk.answer(to: number),
                let status = try? CBOR.decode(StatusReport.self, from: document)
            else { return nil }
            return health.report(status, json: try? CBOR.json(document))
        }

        func reportWithoutAnswer() -> HealthReport { health.report(nil, json: nil) }
    }

    private func report(_ status: StatusReport?, json: String?) -> HealthReport {
        guard let status else {
            let stuck = HealthReport.Verdict(
                isTrue: false,
                text:
                    "the reducer's thread has not answered for \(HealthServer.patience.text): \(presentWork)")
            return HealthReport(
                isLive: stuck, isReady: stuck, leads: stuck, follows: (stuck, 0), json: nil, metrics: metrics(nil))
        }
        return HealthReport(
            isLive: .init(isTrue: true, text: "turns go on"), isReady: status.readiness, leads: status.leads,
            follows: (status.follows, status.following?.lag ?? 0), json: json, metrics: metrics(status))
    }

    /// What the reducer's thread does at present, for people.
    private var presentWork: String {
        guard let step = steps.present else {
            return "it is in no reduce and no query now; an encoding, the journal or a local effect may take long"
        }
        return step.phase == .query
            ? "it runs the query of the feedback \(queryName(step.query))"
            : "it is in \(step.phase)" + (step.event.map { " of the event \($0)" } ?? "")
    }

    private func queryName(_ position: Int) -> String {
        queries.indices.contains(position) ? queries[position] : "\(position)"
    }

    // MARK: Metrics

    private func knownHistory(_ status: StatusReport?) -> String? {
        history.withLock { known in
            if let new = status?.history, !new.isEmpty { known = new }
            return known
        }
    }

    private func metrics(_ status: StatusReport?) -> [MetricFamily] {
        let (figures, steps) = (meter.figures, self.steps.figures)
        var families: [MetricFamily] = [
            .gauge("loop_up", "Whether the node's thread answers.", status == nil ? 0 : 1),
            MetricFamily(
                name: "loop_journal_info", kind: .gauge, help: "The journal of this reducer.",
                samples: knownHistory(status).map {
                    [.init(labels: [("loop", loop), ("journal", journal), ("history", $0)], value: 1)]
                } ?? []),
        ]
        if let status { families += status.metrics }
        if let status, status.role == StatusReport.leaderRole {
            // The journal also knows feedbacks that the definition has no longer.
            let names = Set(status.feedbacks.map(\.name))
            families += Self.effectMetrics(figures.effects.filter { names.contains($0.feedback) })
            families += figures.database.map(Self.databaseMetrics) ?? []
        }
        let now = SystemClock.monotonic
        families += [
            .histogram(
                "loop_turn_seconds", "How long a turn takes from its first message to its records.", figures.turns),
            .each(
                .counter, "loop_reduce_seconds",
                "How long the reducer's thread has reduced events, by looks at fifty moments of each second.",
                by: "event",
                steps.reduces.sorted { $0.key < $1.key }.map { ($0.key, $0.value / .seconds(1)) }),
            .each(
                .counter, "loop_query_seconds",
                "How long queries have run on the reducer's thread, by looks at fifty moments of each second.",
                by: "feedback",
                steps.queries.sorted { $0.key < $1.key }.map { (queryName($0.key), $0.value / .seconds(1)) }),
            .histogram("loop_append_seconds", "How long the records of a turn take to be durable.", figures.appends),
            .each(
                .counter, "loop_append_failures", "Failures of the journal, each of which ends an epoch.", by: "reason",
                figures.appendFailures.sorted { $0.key < $1.key }.map { ($0.key, Double($0.value)) }),
            .counter("loop_epochs_begun", "Epochs that this process has begun.", figures.epochsCount),
            .each(
                .gauge, "loop_recovery_records",
                "Records that the present or last recovery has applied, and has to apply.",
                by: "state",
                figures.recovery.map { [("applied", Double($0.applied)), ("total", Double($0.total))] } ?? []),
            .gauge(
                "loop_recovery_seconds", "How long the last recovery took.",
                figures.recoveryDuration.map { $0 / .seconds(1) }),
            .each(
                .counter, "loop_snapshots", "Snapshots of this process.", by: "result",
                [("written", Double(figures.snapshots.written)), ("failed", Double(figures.snapshots.failed))]),
            .gauge(
                "loop_records_since_snapshot", "Records that a recovery would have to apply.",
                figures.recordsSinceSnapshot.map { Double($0) }),
            .gauge(
                "loop_takeover_estimate_seconds",
                "How long these records would take, as each of them took in the last recovery here.",
                figures.recordsSinceSnapshot.flatMap { records in
                    figures.replayPerRecord.map { $0 / .seconds(1) * Double(records) }
                }),
            .gauge(
                "loop_state_bytes", "The size of the newest snapshot.",
                figures.snapshotByteCount > 0 ? Double(figures.snapshotByteCount) : nil),
            .gauge(
                "loop_snapshot_age_seconds", "The age of the newest snapshot that this process has written.",
                figures.snapshotAt.map { (now - $0) / .seconds(1) }),
            Tracer.metrics(of: tracer),
        ]
        return families
    }
}

extension ReducerHealth {
    private static func effectMetrics(_ figures: [EffectFigures]) -> [MetricFamily] {
        typealias Sample = MetricFamily.Sample
        return [
            MetricFamily(
                name: "loop_effect_attempts", kind: .counter, help: "Ended attempts in this epoch.",
                samples: figures.flatMap { figures in
                    let ends = figures.ends.map { ("\($0.key)", $0.value) }.sorted { $0.0 < $1.0 }
                    return ([("completed", figures.completed)] + ends).map {
                        Sample(
                            labels: [("feedback", figures.feedback), ("outcome", snakeCase($0.0))], value: Double($0.1))
                    }
                }),
            .histograms(
                "loop_effect_wait_seconds", "How long effects without a failure have waited until they were granted.",
                by: "feedback", Dictionary(figures.map { ($0.feedback, $0.waits) }, uniquingKeysWith: { $1 })),
        ]
    }

    private static func databaseMetrics(_ figures: DatabaseFigures) -> [MetricFamily] {
        [
            .gauge(
                "loop_database_oldest_transaction_seconds", "How long the oldest transaction of the database is open.",
                figures.oldestTransaction.map { $0 / .seconds(1) }),
            .gauge(
                "loop_database_table_bytes", "The size of all tables of journals, when they were last vacuumed.",
                figures.tableBytes.map { Double($0) }),
            .gauge(
                "loop_database_dead_rows", "Dead versions of the rows by which reducers lead.",
                figures.deadRows.map { Double($0) }),
            .gauge(
                "loop_database_sync_standbys", "Standbys of the database that confirm commits.",
                figures.syncStandbys.map { Double($0) }),
            .gauge(
                "loop_oldest_seq", "The seq of the oldest state that the journal can show.",
                figures.oldestSeq.map { Double($0) }),
            MetricFamily(
                name: "loop_journal_host", kind: .gauge, help: "The hosts of the journal's database.",
                samples: figures.hosts.enumerated().map { number, host in
                    let state = number == figures.host ? "used" : "other"
                    return .init(labels: [("host", host), ("state", state)], value: 1)
                }),
        ]
    }

    fileprivate static func snakeCase(_ name: String) -> String {
        name.reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : "\($1)" }
    }
}

extension StatusReport {
    /// Whether a leader commits, or a standby could take over.
    fileprivate var readiness: HealthReport.Verdict {
        if isReady { return .init(isTrue: true, text: "it leads at seq \(seq), in epoch \(epoch)") }
        if follows.isTrue { return follows }
        return .init(isTrue: false, text: notReadyBecause ?? "it does not say why")
    }

    fileprivate var leads: HealthReport.Verdict {
        if isReady { return .init(isTrue: true, text: "it leads at seq \(seq), in epoch \(epoch)") }
        return .init(isTrue: false, text: notReadyBecause ?? "it does not say why")
    }

    fileprivate var follows: HealthReport.Verdict {
        guard isStandby else {
            return .init(isTrue: false, text: isReady ? "it leads" : notReadyBecause ?? "it does not say why")
        }
        let reason = notReadyBecause ?? "it does not say why"
        if journalFault != nil && journalFault?.reason != .heldByAnother { return .init(isTrue: false, text: reason) }
        if let cold = following?.coldBecause { return .init(isTrue: false, text: "it has no state: \(cold)") }
        guard following?.lagMilliseconds != nil else {
            return .init(isTrue: false, text: "\(reason); it has not read all of the journal yet")
        }
        return .init(isTrue: true, text: "\(reason); it is \(following?.lag ?? 0) records behind")
    }

    /// The reason why it is not ready, as one of few words.
    private var reason: String? {
        if isReady { return nil }
        if let journalFault { return journalFault.reason.rawValue }
        if isStandby { return "standby" }
        return exitCode == nil ? "other_leader" : "ended"
    }

    /// The role: a reducer that has no role here waits for its journal or recovers.
    private var roleName: String { role ?? "waiting" }

    var metrics: [MetricFamily] {
        var families: [MetricFamily] = [
            .gauge("loop_ready", "Whether events are committed and read here.", isReady ? 1 : 0),
            .each(
                .gauge, "loop_role", "The role of this reducer, which is 1.", by: "role",
                [Self.leaderRole, Self.standbyRole, "waiting"].map { ($0, $0 == roleName ? 1 : 0) }),
            .each(
                .gauge, "loop_not_ready", "Why it is not ready, which is 1.", by: "reason",
                reason.map { [($0, 1)] } ?? []),
            .gauge(
                "loop_journal_fault_seconds", "How long the journal has been unusable.",
                journalFaultMilliseconds.map { Double($0) / 1000 }),
            .gauge("loop_uptime_seconds", "How long the process has run.", Double(uptimeMilliseconds) / 1000),
            .gauge("loop_seq", "The number of the newest transition of the state.", Double(seq)),
        ]
        families += isStandby ? standbyMetrics : roleName == Self.leaderRole ? leaderMetrics : []
        return families
    }

    private var standbyMetrics: [MetricFamily] {
        [
            .gauge(
                "loop_standby_lag_records", "Records in the journal that the standby has not applied.",
                following.map { Double($0.lag) }),
            .gauge(
                "loop_standby_lag_seconds", "An upper bound of the age of the standby's state.",
                following?.lagMilliseconds.map { Double($0) / 1000 }),
            .gauge(
                "loop_standby_cold", "Whether the standby has no state and would recover as at a start.",
                following.map { $0.coldBecause == nil ? 0 : 1 }),
        ]
    }

    private var leaderMetrics: [MetricFamily] {
        typealias Sample = MetricFamily.Sample
        var groups: [String: Double] = [:]
        // Effects may be taken from a worker that is silent for so long.
        let workers = peers.filter { !$0.groups.isEmpty && $0.leaseMilliseconds > 0 }
        for worker in workers { for group in worker.groups { groups[group, default: 0] += 1 } }
        return [
            .gauge("loop_epoch", "The number of the epoch.", Double(epoch)),
            .gauge("loop_events_per_second", "Events applied per second, over the last few ticks.", eventsPerSecond),
            MetricFamily(
                name: "loop_effects", kind: .gauge, help: "Live effects by feedback, group, state and reason.",
                samples: feedbacks.flatMap { feedback in
                    // The first of them are always there, so that no sum of a state is without a series.
                    let waiting = [ListedEffect.Reason.next.rawValue: 0].merging(feedback.waitReasons ?? [:]) { $1 }
                    let states = [("running", "runs", feedback.running), ("parked", "failed", feedback.parked)]
                    return (states + waiting.sorted { $0.key < $1.key }.map { ("waiting", $0.key, $0.value) }).map {
                        let labels = [("feedback", feedback.name), ("group", feedback.group ?? "")]
                        return Sample(labels: labels + [("state", $0.0), ("reason", $0.1)], value: Double($0.2))
                    }
                }),
            .each(
                .gauge, "loop_effect_oldest_waiting_seconds", "How long the effect that has waited longest has waited.",
                by: "feedback", feedbacks.map { ($0.name, Double($0.oldestWaitMilliseconds ?? 0) / 1000) }),
            .each(
                .counter, "loop_effects_completed", "Effects that have completed in this epoch.", by: "feedback",
                feedbacks.map { ($0.name, Double($0.completed)) }),
            .each(
                .gauge, "loop_workers", "Workers that serve a group and are heard.", by: "group",
                groups.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }),
            .gauge(
                "loop_worker_capacity", "Effects that these workers may hold.",
                workers.reduce(0) { $0 + Double($1.capacity) }),
            .gauge(
                "loop_worker_held", "Effects that these workers hold.", workers.reduce(0) { $0 + Double($1.leases) }),
            .gauge("loop_sessions", "Peers that have a session.", Double(peers.count + (peersLeftOut ?? 0))),
            .gauge("loop_connections", "Open connections.", connections.map(Double.init)),
            .gauge("loop_connections_max", "Connections that may be open.", connectionsMax.map(Double.init)),
            .gauge("loop_timers", "Timers that are set.", Double(timers ?? 0)),
            .gauge(
                "loop_next_timer_timestamp_seconds", "When the next timer is due, since 1970.",
                nextTimer.map { Double($0) / 1000 }),
            .gauge(
                "loop_clock_behind_seconds", "How far the clock is behind the times in the journal.",
                Double(clockBehindMilliseconds ?? 0) / 1000),
            .gauge("loop_quarantined", "Events that are set aside.", Double(quarantined)),
            .gauge(
                "loop_warnings", "Conditions that a person should act on; status has their text.",
                Double(warnings.count)),
            .gauge(
                "loop_lease_seconds", "The lease of the journal.", journalLease.map { Double($0.milliseconds) / 1000 }),
            .gauge(
                "loop_lease_unproven_seconds",
                "How long ago the last commit began that proved that this reducer leads.",
                journalLease.map { Double($0.provenMillisecondsAgo) / 1000 }),
            .each(
                .counter, "loop_dropped", "Dropped or refused messages, entries and peers in this epoch.", by: "reason",
                counters.sorted { $0.key < $1.key }.map { (ReducerHealth.snakeCase($0.key), Double($0.value)) }),
        ]
    }
}
