import Linux
import LoopCollections
import LoopCore
import LoopExamples
import LoopNode
import LoopWire

/// All participants of a run: the network, the proxies, the processes, the clients.
final class ChaosStage: Sendable {
    let plan: ChaosPlan
    let network: FaultNetwork
    let folder: RunFolder
    let proxy: FaultProxy
    let book = ClientBook()
    let clients: [DepositClient]
    let visitors: Visitors
    let reducerCalls: ReducerProgramCalls
    /// The database, or nil if there is one reducer with a journal of its own.
    let database: ChaosDatabase?
    let observers: [ChaosObserver]
    let ways: ChaosWays
    /// The address for processes on the reducer's own host, and for requests to all reducers.
    var reducerAddress: ReducerAddress { ways.reducer }
    /// The number of the reducer that led last, as far as known.
    let lastLeader = Locked(1)
    private let keeper: RemoteLoop<Ledger>?
    private let loops: [RemoteLoop<Ledger>]
    private let processes: [Target: ChaosProcess]

    /// How long a process may take to end after it was told to.
    static let stopLimit = Duration.seconds(10)

    /// Builds the stage and starts the processes.
    /// - Throws: `SystemError` for a program or an address that is not available.
    init(
        plan: ChaosPlan, schedule: ChaosSchedule, network: FaultNetwork, peers: [Target], folder: RunFolder,
        database: ChaosDatabase?
    ) async throws {
        self.plan = plan
        self.network = network
        self.folder = folder
        self.database = database
        if let database {
            ways = try ChaosWays(
                peers: peers, reducers: plan.reducers, servers: database.quorum.servers.count, in: network)
        } else {
            ways = try ChaosWays(peers: peers, in: network)
        }
        reducerCalls = ReducerProgramCalls(
            program: "\(plan.executables)/loop-reducer", folder: folder, journal: plan.journal,
            sessionsMax: plan.sessionsMax)
        proxy = try await FaultProxy(links: ways.links, in: network.space(FaultNetwork.proxyHost))
        var processes: [Target: ChaosProcess] = [:]
        for (index, address) in ways.reducers.enumerated() {
            let target = database == nil ? Target.reducer : .member(index + 1)
            processes[target] = ChaosProcess(
                name: target.description, program: reducerCalls.program,
                arguments: reducerCalls.running(
                    at: address, journal: ways.journals.isEmpty ? nil : ways.journals[index]),
                codeWhenTold: 0, space: network.space(target.description), log: folder.log(of: target.description))
        }
        let dialled = ways.dialled
        let reducerAddress = ways.reducer
        var observers: [ChaosObserver] = []
        var clients: [DepositClient] = []
        var loops: [RemoteLoop<Ledger>] = []
        for peer in peers {
            let address = dialled[peer] ?? reducerAddress
            let space = network.space(peer.description)
            switch peer {
            case .reducer, .leader, .standby, .primary, .replica, .member, .server: break
            case .observer:
                observers.append(
                    ChaosObserver(
                        peer.description,
                        try await Self.connect(to: address, as: peer.description, in: space, folder)))
            case .worker, .holder:
                let isHolder = peer == .holder
                let swift = ["\(plan.executables)/loop-effect", "ledger"]
                let words = peer == ChaosPlan.foreignWorker && !plan.worker.isEmpty ? plan.worker : swift
                processes[peer] = ChaosProcess(
                    name: peer.description, program: words[0],
                    arguments: words.dropFirst() + [
                        "--reducer", address.description, "--name", peer.description, "--capacity",
                        isHolder ? "50000" : "32", "--group", isHolder ? Ledger.holders : "default", "--stop-limit",
                        "3s",
                    ], codeWhenTold: 0, space: space, log: folder.log(of: peer.description))
            case .client(let number):
                let loop = try await Self.connect(to: address, as: peer.description, in: space, folder)
                loops.append(loop)
                clients.append(
                    DepositClient(client: number, seed: plan.seed, loop: loop, book: book, pace: plan.pace))
            }
        }
        let (folder, last) = (folder, Target.client(ChaosPlan.clients))
        let (address, space) = (dialled[last] ?? reducerAddress, network.space(last.description))
        visitors = Visitors(client: ChaosPlan.clients + 1, seed: plan.seed, book: book) {
            try await Self.connect(to: address, as: "visitor", in: space, folder)
        }
        keeper =
            plan.held > 0
            ? try await Self.connect(
                to: reducerAddress, as: "keeper", in: network.space(FaultNetwork.reducerHost), folder) : nil
        self.processes = processes
        self.clients = clients
        self.loops = loops
        self.observers = observers
        for (_, process) in processes.sorted(by: { $0.key < $1.key }) { try await process.start() }
    }

    func process(_ target: Target) -> ChaosProcess? { processes[target] }

    var starts: [String: Int] {
        Dictionary(uniqueKeysWithValues: processes.map { ($0.key.description, $0.value.starts) })
    }

    private static func connect(
        to address: ReducerAddress, as name: String, in space: NetworkSpace, _ folder: RunFolder
    ) async throws -> RemoteLoop<Ledger> {
        let log = folder.log(of: name)
        return try await space.run("connect-\(name)") {
            try RemoteLoop(
                Ledger.self, reducer: address, name: name,
                log: .lines { line in try? FileSystem.write(line + "\n", to: log, appending: true) })
        }
    }

    /// - Throws: `ChaosFailure` if the reducer does not become ready.
    func waitUntilReady() async throws {
        for _ in 0..<(database == nil ? 40 : 100) {
            if await status()?.isReady == true { return }
            for process in processes.values {
                guard let end = process.unexpected.first else { continue }
                throw ChaosFailure("\(end): \(folder.tail(of: process.name, lines: 3).joined(separator: "; "))")
            }
            // Polled, because a reducer does not publish that it is ready, and does not answer before it listens.
            try await Task.sleep(for: .milliseconds(100))
        }
        let reducer = database == nil ? Target.reducer : .member(1)
        throw ChaosFailure("the reducer did not become ready: \(folder.tail(of: reducer.description, lines: 3))")
    }

    /// The reducer's status report, or nil if it does not answer.
    private func status() async -> StatusReport? {
        let address = reducerAddress
        return try? await network.space(FaultNetwork.reducerHost).run("chaos-probe") {
            try StatusProbe.ask(address, within: .milliseconds(500))
        }
    }

    /// The control of the holder, or nil if there is none.
    var holder: Holder? {
        keeper.map { loop in Holder(count: plan.held, loop: loop) { await self.status() } }
    }

    /// The state once nothing is open, or the last one before the time is up; nil if there was none.
    func lastState(within limit: Duration) async throws -> (seq: Seq, state: LedgerState)? {
        let auditor = try await Self.connect(
            to: reducerAddress, as: "auditor", in: network.space(FaultNetwork.reducerHost), folder)
        let last = Locked<(seq: Seq, state: LedgerState)?>(nil)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await (seq, state) in auditor.states {
                    last.withLock { $0 = (seq, state) }
                    if state.open.isEmpty { return }
                }
            }
            // Deposits may stay open forever.
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
        await auditor.close()
        return last.withLock { $0 }
    }

    // MARK: The end

    /// Closes the clients' handles. Tasks that still wait for an outcome get the error that none will come.
    func closeClients() async {
        await visitors.close()
        for loop in loops { await loop.close() }
        for observer in observers { await observer.close() }
        await keeper?.close()
    }

    /// Closes the clients and ends all processes, workers first.
    /// - Returns: what was wrong.
    func stopProcesses() async -> [String] {
        var found: [String] = []
        await closeClients()
        for (target, process) in processes.sorted(by: { $0.key > $1.key }) {
            found += process.unexpected
            guard let (exit, isProper) = await process.terminate(within: Self.stopLimit) else {
                found.append("\(target) was not running at the end")
                continue
            }
            if !isProper { found.append("\(target) was told to end at the end, and ended with \(exit)") }
        }
        return found
    }

    /// Ends everything by force.
    /// - Returns: what still exists.
    @discardableResult
    func clear() async -> [String] {
        for process in processes.values { await process.kill() }
        await closeClients()
        await proxy.stop()
        await database?.stop()
        return Self.processes(naming: folder.path).map { "the process \($0)" }
            + processes.values.compactMap { process in process.processID.map { "\(process.name), process \($0)" } }
    }

    /// The processes whose command line contains this text.
    private static func processes(naming text: String) -> [String] {
        TemporaryFolder.names(in: "/proc").compactMap { name in
            guard let id = Int32(name), let bytes = try? FileSystem.bytes(of: "/proc/\(id)/cmdline") else { return nil }
            let words = String(decoding: bytes.prefix(4096).map { $0 == 0 ? 0x20 : $0 }, as: UTF8.self)
            return words.contains(text) ? "\(id) \(words)" : nil
        }
    }
}
