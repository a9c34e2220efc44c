import Foundation

/// The peers whose programs are there. `scripts/bench-peers` makes them.
struct PeerPrograms {
    let peers: [any Peer]
    /// Those that keep everything in a database, beside ours with a journal there.
    let databasePeers: [any Peer]

    /// - Parameter folder: where the programs are.
    init(folder: String) throws {
        let folder = URL(fileURLWithPath: folder).path
        var peers: [any Peer] = []
        if Self.has("\(folder)/redis-peer") { peers.append(RedisStreams(program: "\(folder)/redis-peer")) }
        if Self.has("\(folder)/jetstream-peer") { peers.append(JetStream(program: "\(folder)/jetstream-peer")) }
        if Self.has("\(folder)/celery/bin/python") {
            peers.append(
                CeleryTasks(python: "\(folder)/celery/bin/python", program: "\(folder)/celery_peer.py"))
        }
        if Self.has("\(folder)/dbos/bin/python") {
            databasePeers = DBOSEffects.Way.allCases.map {
                DBOSEffects(python: "\(folder)/dbos/bin/python", program: "\(folder)/dbos_peer.py", way: $0)
            }
        } else {
            databasePeers = []
        }
        guard !peers.isEmpty || !databasePeers.isEmpty else {
            throw BenchmarkError.usage("no peer has a program in \(folder)")
        }
        self.peers = peers
    }

    /// Durable effects of ours beside those of all peers.
    var groups: [CaseGroup] {
        (peers.isEmpty ? [] : fileGroups) + (databasePeers.isEmpty ? [] : [databaseGroup])
    }

    private var databaseGroup: CaseGroup {
        CaseGroup(
            unit: "effects/s", references: databasePeers.map { $0.rate(window: 4096, full: 4096) },
            ours: [CaseGroup.databaseEffects(.one, "postgres", count: 1_000_000)])
    }

    private var fileGroups: [CaseGroup] {
        // Some seconds for each: how one begins, on processors that have idled while another waited, takes tenths of a second.
        let many = [(window: 4096, ours: 2_000_000, theirs: 400_000), (window: 256, ours: 600_000, theirs: 200_000)]
        return many.map { one in
            CaseGroup(
                unit: "effects/s", references: peers.map { $0.rate(window: one.window, full: one.theirs) },
                ours: [CaseGroup.durableEffects(window: one.window, count: one.ours)])
        } + [
            CaseGroup(
                unit: "us p50", references: peers.map { $0.latency(full: 2000) }, ours: [CaseGroup.durableRoundTrip])
        ]
    }

    private static func has(_ path: String) -> Bool { FileManager.default.isExecutableFile(atPath: path) }
}

/// Jobs in one stream, read by a group of workers, results in another; the server syncs before it answers.
private struct RedisStreams: Peer {
    let program: String
    let name = "Redis Streams, AOF always"

    func count(_ full: Int) -> Int { full }

    func start(
        in folder: String, workers: Int, window: Int, count: Int, _ roles: RoleProcesses
    ) async throws -> RoleProcess {
        try await RedisServer.start(in: folder, roles)
        for number in 1...workers {
            let worker = try roles.start(program, ["worker", RedisServer.socket, "worker-\(number)"], in: folder)
            _ = try await worker.answer("ready")
        }
        return try roles.start(program, ["driver", RedisServer.socket, "\(window)", "\(count)"], in: folder)
    }
}

/// Jobs in one stream, results in another. The server has both in files, and does not sync them before it answers.
private struct JetStream: Peer {
    let program: String
    let name = "JetStream, file, not synced"

    func count(_ full: Int) -> Int { full }

    func start(
        in folder: String, workers: Int, window: Int, count: Int, _ roles: RoleProcesses
    ) async throws -> RoleProcess {
        let server = try roles.start(
            "nats-server", ["-js", "-sd", "jetstream", "-a", "127.0.0.1", "-p", "-1"], in: folder, isServer: true)
        // "… [INF] Listening for client connections on 127.0.0.1:34567", and then "… [INF] Server is ready".
        let listening = try await server.line(with: "Listening for client connections on ")
        _ = try await server.line(with: "Server is ready")
        guard let address = listening.split(separator: " ").last else {
            throw BenchmarkError.role("nats-server said no address: \(listening)")
        }
        for _ in 1...workers {
            let worker = try roles.start(program, ["worker", "nats://\(address)"], in: folder)
            _ = try await worker.answer("ready")
        }
        return try roles.start(program, ["driver", "nats://\(address)", "\(window)", "\(count)"], in: folder)
    }
}

/// Tasks of Celery, by as many processes of one worker; broker and results are a Redis server that syncs.
private struct CeleryTasks: Peer {
    let python: String
    let program: String
    let name = "Celery, Redis AOF always"

    /// Rates are a second, and it is slow.
    func count(_ full: Int) -> Int { min(full / 4, 2000) }

    func start(
        in folder: String, workers: Int, window: Int, count: Int, _ roles: RoleProcesses
    ) async throws -> RoleProcess {
        try await RedisServer.start(in: folder, roles)
        let worker = try roles.start(python, [program, "worker", "\(workers)"], in: folder)
        _ = try await worker.answer("ready")
        return try roles.start(python, [program, "driver", "\(window)", "\(count)"], in: folder)
    }
}
