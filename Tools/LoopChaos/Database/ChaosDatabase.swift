import Linux
import LoopCollections
import LoopNode
import LoopPostgres
import TestDatabase

/// The servers of a run's database, their faults, and their recovery: a failed primary is replaced by the most advanced
/// other server, as docs/high-availability.md says.
final class ChaosDatabase: Sendable {
    let quorum: DatabaseQuorum
    private let network: FaultNetwork
    private let note: @Sendable (String) -> Void
    private let failovers = Locked(0)
    private let panics: Locked<[String]>

    /// The database's name.
    static let name = "ledger"
    /// How long it takes to detect that a primary has failed.
    private static let detection = Duration.milliseconds(300)
    /// How long an old primary that has come back accepts connections before its files are replaced.
    private static let alone = Duration.milliseconds(1500)

    /// Starts the servers, each on a host of its own.
    /// - Parameter note: called with a line for each event of the servers.
    init(
        servers: Int, network: FaultNetwork, folder: RunFolder, note: @escaping @Sendable (String) -> Void
    ) async throws {
        self.network = network
        self.note = note
        let panics = Locked([String]())
        self.panics = panics
        quorum = try await DatabaseQuorum(
            (1...servers).map { number in
                let host = Target.server(number).description
                var place = DatabaseServer.Place("db\(number)", address: network.address(host))
                place.spawn = { plan in
                    try await network.space(host).run("start-\(host)") { try ChildProcess(plan) }
                }
                let log = "\(folder.path)/\(host).txt"
                place.log = { line in
                    try? FileSystem.write(line + "\n", to: log, appending: true)
                    if line.contains("PANIC:") { panics.withLock { $0.append("\(host): \(line)") } }
                }
                return place
            })
        _ = try quorum.makeDatabase(Self.name)
    }

    /// How often another server became the primary.
    var failoverCount: Int { failovers.withLock { $0 } }

    /// Log lines of the servers about damage.
    var complaints: [String] { panics.withLock { $0 } }

    /// The journal's present URL, over a Unix socket, which no fault of the network reaches.
    var url: String { quorum.primary.url(Self.name) }

    // MARK: Faults

    private func target(of server: DatabaseServer) -> Target {
        .server((quorum.servers.firstIndex { $0 === server } ?? 0) + 1)
    }

    /// Executes one fault, from its beginning until all servers have recovered.
    /// - Returns: whether it took effect.
    func inflict(_ fault: Fault) async throws -> Bool {
        if fault.target == .replica { return try await inflictOnReplicas(fault) }
        let old = quorum.primary
        let host = target(of: old).description
        note("the primary is \(host)")
        guard quorum.servers.count > 1 else {
            return try await inflict(fault, on: old, host) { try await waitOut(fault) }
        }
        var isFelt = true
        if fault.trouble == .blackout {
            let others = quorum.standbys
            for server in quorum.servers { await server.kill() }
            for server in others { try await server.start() }
            try await replace(fault)
            try await old.start()
        } else {
            isFelt = try await inflict(fault, on: old, host) { try await replace(fault) }
        }
        note("\(host) is back, alone")
        try await Task.sleep(for: Self.alone)
        try await quorum.join(old)
        note("\(host) follows")
        return isFelt
    }

    /// Waits for the end of the fault.
    private func waitOut(_ fault: Fault) async throws { try await Task.sleep(for: fault.lasts) }

    /// Promotes another server, and waits for the end of the fault.
    private func replace(_ fault: Fault) async throws {
        try await Task.sleep(for: Self.detection)
        try await quorum.promote()
        failovers.withLock { $0 += 1 }
        note("\(target(of: quorum.primary)) was promoted")
        try await waitOut(fault)
    }

    private func inflictOnReplicas(_ fault: Fault) async throws -> Bool {
        let replicas = quorum.standbys
        // One of the replicas, chosen by the schedule.
        guard let replica = replicas.dropFirst(Int(fault.at / .milliseconds(1)) % 2).first else { return false }
        let host = target(of: replica).description
        note("the replica is \(host)")
        guard fault.trouble == .noQuorum else {
            return try await inflict(fault, on: replica, host) { try await waitOut(fault) }
        }
        for replica in replicas { replica.freeze() }
        try await waitOut(fault)
        for replica in replicas { replica.thaw() }
        return true
    }

    /// Executes a fault of one server, which ends when `body` returns.
    /// - Returns: whether it took effect.
    private func inflict(
        _ fault: Fault, on server: DatabaseServer, _ host: String, _ body: () async throws -> Void
    ) async throws -> Bool {
        switch fault.trouble {
        case .freeze:
            server.freeze()
            try await body()
            server.thaw()
        case .partition:
            try await network.begin(fault.trouble, at: host)
            try await body()
            return try await network.end(fault.trouble, at: host) > 0
        default:
            await server.kill()
            try await body()
            try await server.start()
        }
        return true
    }

    // MARK: The end

    /// The rows of the journal, in order.
    func batches() throws -> [Evidence.Batch] {
        var connection = try quorum.primary.connect(Self.name)
        let found = try connection.run(
            """
            SELECT term, first_position, last_position, first_seq, last_seq FROM loop_batch
                WHERE journal_id = (SELECT id FROM loop_journal WHERE kept_as = 'current') ORDER BY first_position
            """, "read the rows", within: .seconds(30))
        return (0..<found.count).map { row in
            let numbers = (0..<5).map { found.integer(row, $0) ?? 0 }
            return Evidence.Batch(
                term: numbers[0], positions: (numbers[1], numbers[2]), seqs: (numbers[3], numbers[4]))
        }
    }

    func stop() async {
        for server in quorum.servers { await server.kill() }
    }
}
