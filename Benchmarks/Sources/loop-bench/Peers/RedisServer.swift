import Foundation

/// A Redis server that listens only on a socket in its folder, and syncs its file before it answers.
enum RedisServer {
    /// The address, seen from its folder.
    static let socket = "redis.sock"

    static func start(in folder: String, _ roles: RoleProcesses) async throws {
        let configuration = """
            port 0
            unixsocket \(socket)
            unixsocketperm 700
            dir .
            daemonize no
            save ""
            appendonly yes
            appendfsync always
            auto-aof-rewrite-percentage 0

            """
        try configuration.write(toFile: "\(folder)/redis.conf", atomically: true, encoding: .utf8)
        let server = try roles.start("redis-server", ["redis.conf"], in: folder, isServer: true)
        _ = try await server.line(with: "ready to accept connections at")
    }
}
