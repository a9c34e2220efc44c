import CBOR
import Glibc
import LoopCollections
import LoopCore
import LoopNode

/// One run: it starts everything, breaks it by the schedule, lets it settle, and collects the evidence.
package struct ChaosRun: Sendable {
    package let plan: ChaosPlan
    package let schedule: ChaosSchedule
    private let say: @Sendable (String) -> Void
    private let felt = Locked<[FaultKind: Int]>([:])
    private let problems = Locked<[String]>([])
    /// A line for each beginning and end of a fault.
    private let inflicted = Locked<[String]>([])
    private let began = Locked<MonotonicTime?>(nil)
    private let lives = Locked<(started: Duration?, all: [Range<Duration>])>((nil, []))

    /// - Parameter say: called with lines for people, one at a time.
    package init(_ plan: ChaosPlan, say: @escaping @Sendable (String) -> Void) {
        self.plan = plan
        self.say = say
        if plan.journal == .postgres {
            schedule = ChaosSchedule(
                database: plan.servers, seed: plan.seed, duration: plan.duration, workers: ChaosPlan.workers,
                clients: ChaosPlan.clients)
        } else {
            schedule = ChaosSchedule(
                seed: plan.seed, duration: plan.duration, workers: ChaosPlan.workers, clients: ChaosPlan.clients,
                sparesReducer: plan.sparesReducer, holds: plan.held > 0)
        }
    }

    /// - Throws: the obstacle to the run, such as missing executables or no space for a folder; `CancellationError`.
    package func run() async throws -> ChaosReport {
        let folder = try RunFolder()
        let holders: [Target] = plan.held > 0 ? [.holder] : []
        var peers =
            (1...schedule.workers).map { Target.worker($0) } + (1...schedule.clients).map { .client($0) } + holders
        var others: [Target] = []
        if plan.journal == .postgres {
            peers += (1...ChaosSchedule.observers).map { .observer($0) }
            others = (1...plan.reducers).map { .member($0) } + (1...plan.servers).map { .server($0) }
        }
        let network = await FaultNetwork(
            peers: peers + others, proxies: others.isEmpty ? nil : plan.reducers * plan.servers)
        var evidence = Evidence(schedule: schedule)
        evidence.mustRunAll = plan.mustRunAll
        if let obstacle = network.obstacle {
            evidence.notRun.append("packet loss and partitions: \(obstacle)")
            say("not run: packet loss and partitions: \(obstacle)")
        }
        folder.write("schedule.txt", schedule.faults.map(\.description).joined(separator: "\n"))
        do {
            try await network.build()
            let stage = try await ChaosStage(
                plan: plan, schedule: schedule, network: network, peers: peers, folder: folder,
                database: try await makeDatabase(in: network, folder))
            do {
                try await perform(stage, &evidence)
            } catch {
                await stage.clear()
                throw error
            }
            evidence.leftovers += await stage.clear()
        } catch {
            _ = await network.remove()
            if error is CancellationError { folder.remove() } else { say("the folder \(folder.path) is kept") }
            throw error
        }
        evidence.leftovers += await network.remove().map { "the network namespace \($0)" }
        evidence.felt = felt.withLock { $0 }
        evidence.reducerLives = lives.withLock { $0.all }
        evidence.unexpected += problems.withLock { $0 }
        let report = ChaosReport(plan, evidence)
        if plan.keeping == .never || report.isClean && plan.keeping != .always {
            folder.remove()
        } else {
            folder.write("report.txt", report.text)
            folder.write("clients.txt", Self.text(of: evidence.clients))
            folder.write("samples.txt", evidence.samples.map(\.description).joined(separator: "\n"))
            folder.write("faults.txt", inflicted.withLock { $0 }.joined(separator: "\n"))
            say("journal, logs and pages are in \(folder.path)")
        }
        return report
    }

    /// Starts the servers of the database, if there is one, and makes its tables.
    private func makeDatabase(in network: FaultNetwork, _ folder: RunFolder) async throws -> ChaosDatabase? {
        guard plan.journal == .postgres else { return nil }
        let database = try await ChaosDatabase(servers: plan.servers, network: network, folder: folder) { noteLine($0) }
        try await Tool.run(["\(plan.executables)/loopctl", "journal", "init", database.url])
        return database
    }

    private static func text(of clients: [UInt64: ClientOutcome]) -> String {
        clients.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: "\n")
    }

    // MARK: Phases

    private func perform(_ stage: ChaosStage, _ evidence: inout Evidence) async throws {
        try await stage.waitUntilReady()
        if let holder = stage.holder {
            try await holder.begin()
            say("\(holder.count) effects are held")
        }
        let begin = SystemClock.monotonic
        began.withLock { $0 = begin }
        let sampler = try StatusSampler(
            reducer: stage.reducerAddress, space: stage.network.space(FaultNetwork.reducerHost), begin: begin)
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in stage.clients { group.addTask { await client.run() } }
                group.addTask { await stage.visitors.run() }
                do {
                    try await breakThings(stage, from: begin)
                    say("faults end; everything has to settle")
                    for client in stage.clients { client.finish() }
                    stage.visitors.finish()
                    try await wait(for: &group, stage)
                } catch {
                    // A task that waits for an outcome gets the error that none will come.
                    group.cancelAll()
                    await stage.closeClients()
                    throw error
                }
            }
            try await settle(stage, sampler, &evidence)
        } catch {
            await sampler.stop()
            throw error
        }
        await sampler.stop()
        evidence.samples = sampler.samples
        evidence.counters = sampler.counters
        evidence.working = sampler.working
        evidence.clients = stage.book.all
        say("\(stage.visitors.count) short-lived clients came; the reducer may have \(plan.sessionsMax) sessions")
        evidence.unexpected += stage.visitors.problems
        evidence.unexpected += await stage.stopProcesses()
        evidence.starts = stage.starts
        var calls = stage.reducerCalls
        calls.url = stage.database?.url
        evidence.replay = try await calls.replay()
        if let database = stage.database {
            evidence.database?.batches = try database.batches()
            evidence.database?.failovers = database.failoverCount
            evidence.complaints += database.complaints
        }
        evidence.holding?.lives = try stage.folder.readHolderPages()
        evidence.pages = try stage.folder.readPages()
        evidence.complaints += stage.folder.complaints()
    }

    /// Waits for the clients' outcomes. If they do not come in time, the handles are closed, and the outcomes are unknown.
    private func wait(for clients: inout ThrowingTaskGroup<Void, any Error>, _ stage: ChaosStage) async throws {
        // Outside of the group, which would wait for it too. It is cancelled when all outcomes have come.
        let watch = Task {
            try await Task.sleep(for: ChaosPlan.settleLimit)
            problems.withLock {
                $0.append("clients still waited for outcomes \(ChaosPlan.settleLimit.shown) after the last fault")
            }
            await stage.closeClients()
        }
        defer { watch.cancel() }
        try await clients.waitForAll()
    }

    private func breakThings(_ stage: ChaosStage, from begin: MonotonicTime) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let possible = schedule.faults.filter { !$0.kind.needsNetwork || stage.network.obstacle == nil }
            // Faults of one lane come one after the other, even if one takes longer than planned.
            for faults in Dictionary(grouping: possible, by: \.lane).values {
                group.addTask {
                    for fault in faults {
                        try await Self.sleep(until: begin + fault.at)
                        note(begin, fault, "begins")
                        try await attempt(fault, on: stage)
                        note(begin, fault, "is over")
                    }
                }
            }
            group.addTask { try await Self.sleep(until: begin + schedule.duration) }
            try await group.waitForAll()
        }
    }

    private func attempt(_ fault: Fault, on stage: ChaosStage) async throws {
        do {
            try await inflict(fault, on: stage)
        } catch let error as CancellationError {
            throw error
        } catch {
            problems.withLock { $0.append("'\(fault)' failed: \(error)") }
        }
    }

    /// Sleeps until a time of the schedule, at which a fault begins or ends.
    static func sleep(until time: MonotonicTime) async throws {
        let wait = time - SystemClock.monotonic
        if wait > .zero { try await Task.sleep(for: wait) }
    }

    private func noteLine(_ line: String) {
        let now = began.withLock { $0.map { SystemClock.monotonic - $0 } } ?? .zero
        inflicted.withLock { $0.append("\(now.shown)    \(line)") }
    }

    private func note(_ begin: MonotonicTime, _ fault: Fault, _ what: String) {
        let now = SystemClock.monotonic - begin
        inflicted.withLock { $0.append("\(now.shown)  \(what): \(fault)") }
        guard fault.kind.isOfReducer else { return }
        lives.withLock { lives in
            if what == "begins" {
                if let start = lives.started { lives.all.append(start..<max(start, now)) }
                lives.started = nil
            } else {
                lives.started = fault.kind == .reducerFrozen ? nil : now
            }
        }
    }

    private func feel(_ kind: FaultKind) { felt.withLock { $0[kind, default: 0] += 1 } }

    /// Executes one fault. It lasts as long as the schedule says, whether or not it takes effect.
    private func inflict(_ fault: Fault, on stage: ChaosStage) async throws {
        if let database = stage.database, fault.target == .primary || fault.target == .replica {
            if try await database.inflict(fault) { feel(fault.kind) }
            return
        }
        let target = await stage.resolve(fault.target, fault)
        if target != fault.target { noteLine("\(fault.target) is \(target)") }
        switch fault.trouble {
        case .kill, .terminate:
            guard let process = stage.process(target), process.processID != nil else { return }
            if fault.trouble == .kill {
                await process.kill()
            } else if let (exit, isProper) = await process.terminate(within: ChaosStage.stopLimit), !isProper {
                problems.withLock { $0.append("\(target) was told to end, and ended with \(exit)") }
            }
            feel(fault.kind)
            try await Task.sleep(for: fault.lasts)
            try await process.start()
        case .freeze:
            guard let process = stage.process(target), process.processID != nil else { return }
            process.freeze()
            defer { process.thaw() }
            feel(fault.kind)
            try await Task.sleep(for: fault.lasts)
        case .blackout, .noQuorum: break
        case .loss, .partition, .severed:
            let host = target.description
            try await stage.network.begin(fault.trouble, at: host)
            try await Task.sleep(for: fault.lasts)
            if try await stage.network.end(fault.trouble, at: host) > 0 { feel(fault.kind) }
        case .delay, .stall, .cut:
            stage.proxy.begin(fault.trouble, at: target)
            try await Task.sleep(for: fault.lasts)
            stage.proxy.end(fault.trouble, at: target)
        }
    }

    /// Waits until every deposit is booked or cancelled, and notes the last state.
    private func settle(_ stage: ChaosStage, _ sampler: StatusSampler, _ evidence: inout Evidence) async throws {
        let counts = stage.proxy.counts
        felt.withLock { felt in
            felt[.delay] = counts.delays
            felt[.stall] = counts.stalls
            felt[.cut] = counts.cuts
        }
        if let holder = stage.holder {
            evidence.holding = Evidence.Holding(count: holder.count)
            do {
                evidence.holding = try await holder.end()
            } catch let refusal as SendRefusal {
                problems.withLock { $0.append("nobody could say that no effects are to be held: \(refusal)") }
            }
        }
        let last = try await stage.lastState(within: ChaosPlan.settleLimit)
        guard let last else {
            problems.withLock { $0.append("the reducer told no state within \(ChaosPlan.settleLimit.shown)") }
            return
        }
        evidence.state = last.state
        evidence.seq = last.seq.value
        evidence.stateJSON = try CBOR.json(CBOR.encode(last.state))
        if stage.database != nil { try await settleReducers(stage, &evidence) }
    }

    /// Notes the last state of every observer, and the state that every reducer reports when it leads.
    private func settleReducers(_ stage: ChaosStage, _ evidence: inout Evidence) async throws {
        var database = Evidence.Database(reducerCount: plan.reducers)
        for observer in stage.observers {
            database.observers[observer.name] = try await observer.wait(
                for: evidence.stateJSON, within: ChaosPlan.settleLimit)
        }
        database.reducers = try await stage.statesOfReducers(within: ChaosPlan.settleLimit)
        evidence.database = database
    }
}
