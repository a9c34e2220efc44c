internal import Glibc
internal import Linux
internal import LoopCollections
internal import LoopCore
package import LoopNode
package import LoopPostgres

/// A PostgreSQL server of a test's own, in a folder of its own, from one start to the next. It listens on a socket in the folder,
/// and on an address where it was given one. It syncs, as one that is relied on does. It ends with this process, however that
/// ends.
package final class DatabaseServer: Sendable {
    /// Where a server runs, and what becomes of its words.
    package struct Place: Sendable {
        /// By which other servers know it.
        package var name: String
        /// Where it listens besides its socket, on the usual port, or nil for nowhere.
        package var address: String?
        /// Starts a process of it; by default in the network of this process.
        package var spawn: @Sendable (ChildProcess.Plan) async throws -> ChildProcess = { try ChildProcess($0) }
        /// Takes each line that it writes.
        package var log: @Sendable (String) -> Void = { _ in }

        package init(_ name: String, address: String? = nil) {
            self.name = name
            self.address = address
        }
    }

    package let place: Place
    private let folder: String
    private let settings: Locked<[String]>
    private let life = Locked<ServerProcess?>(nil)

    /// Where Debian's package has the programs of the server.
    private static let programs = "/usr/lib/postgresql/15/bin"
    private static let port = 5432
    /// The user that a server runs as where this process is root's: it refuses to run as root.
    private static let nobody: uid_t = 65534

    /// - Parameters:
    ///   - folder: of its own, in which there is nothing; its path is short, since a socket is in it.
    ///   - settings: more of its settings, such as `max_connections=20`.
    init(_ place: Place, in folder: String, settings: [String]) throws {
        self.place = place
        self.folder = folder
        self.settings = Locked(settings)
        if getuid() == 0 {
            precondition(chown(folder, Self.nobody, Self.nobody) == 0, "no owner of \(folder)")
        }
    }

    deinit { end() }

    /// Ends it at once, with all its processes.
    func end() { life.withLock { $0 }?.end() }

    private var data: String { "\(folder)/data" }

    // MARK: Its files

    /// Makes the files of a new, empty database.
    func initialize() async throws {
        try await run(
            "initdb", ["-D", data, "-U", "loop", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"])
        guard place.address != nil else { return }
        let everybody = "host all all 0.0.0.0/0 trust\nhost replication all 0.0.0.0/0 trust\n"
        try FileSystem.write(everybody, to: "\(data)/pg_hba.conf", appending: true)
    }

    /// Copies the files of another server that runs, in place of its own.
    func copy(_ primary: DatabaseServer) async throws {
        end()
        try await run("/bin/rm", ["-rf", data])
        try await run(
            "pg_basebackup",
            [
                "-D", data, "-h", primary.host, "-p", "\(Self.port)", "-U", "loop", "--checkpoint=fast", "--no-sync",
                "--wal-method=stream",
            ])
        // What follows another server says so itself.
        try FileSystem.write("", to: "\(data)/standby.signal")
        if getuid() == 0 { chown("\(data)/standby.signal", Self.nobody, Self.nobody) }
    }

    /// Runs a program to its end.
    private func run(_ program: String, _ arguments: [String]) async throws {
        let lines = Locked([String]())
        let plan = Self.plan(program, arguments, output: .lines { _, line in lines.withLock { $0.append(line) } })
        let exit = try await place.spawn(plan).wait()
        guard exit == .exited(0) else { throw NodeError.system("\(program): \(exit): \(lines.withLock { $0 })") }
    }

    private static func plan(
        _ program: String, _ arguments: [String], output: ChildProcess.Output
    ) -> ChildProcess.Plan {
        let path = program.hasPrefix("/") ? program : "\(programs)/\(program)"
        guard getuid() == 0 else { return ChildProcess.Plan(path, arguments, output: output) }
        // The change of the user takes away the signal at this process's end, so setpriv sets it again.
        let user = ["--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups", "--pdeathsig=KILL"]
        return ChildProcess.Plan("setpriv", user + [path] + arguments, directory: "/", output: output)
    }

    // MARK: Its process

    /// Whether it was started and has not been killed since.
    package var isStarted: Bool { life.withLock { $0?.child.status == nil && $0 != nil } }

    /// Starts it, or starts it again, and waits until it takes connections.
    package func start() async throws {
        let said = Monitor((isReady: false, lines: [String]()))
        try writeSettings()
        let settings = [
            "config_file=\(ownFile)", "listen_addresses=\(place.address ?? "")", "unix_socket_directories=\(folder)",
            "port=\(Self.port)", "fsync=on",
        ]
        let log = place.log
        let plan = Self.plan(
            "postgres", ["-D", data] + settings.flatMap { ["-c", $0] },
            output: .lines { _, line in
                log(line)
                said.withLock { said in
                    if !said.isReady { said.lines.append(line) }
                    // Of one that follows another: "… read-only connections".
                    if line.contains("ready to accept") { said.isReady = true }
                }
                said.broadcast()
            })
        let process = ServerProcess(try await place.spawn(plan))
        life.withLock { $0 = process }
        while !said.wait(until: { $0.isReady }, timeout: .milliseconds(10)) {
            guard process.child.status == nil else { throw NodeError.system("postgres: \(said.withLock { $0.lines })") }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Ends it as a loss of its machine's power would, but for what the system has in memory.
    package func kill() async {
        guard let process = life.withLock({ $0 }) else { return }
        process.end()
        _ = await process.child.wait()
    }

    /// All its processes stand still, and its connections stay open.
    package func freeze() { life.withLock { $0 }?.freeze() }

    /// It goes on where it stood still.
    package func thaw() { life.withLock { $0 }?.thaw() }

    // MARK: Its settings

    /// What is its own: the files of its data may be a copy of another server's.
    private var ownFile: String { "\(folder)/server.conf" }

    private func writeSettings() throws {
        let lines = settings.withLock { $0 }.map { setting in
            let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return "\(parts[0]) = '\(parts.dropFirst().joined())'\n"
        }
        try FileSystem.write("include '\(data)/postgresql.conf'\n" + lines.joined(), to: ownFile)
        if getuid() == 0 { chown(ownFile, Self.nobody, Self.nobody) }
    }

    /// Changes a setting of the running server, which its sessions learn a little later.
    /// - Parameter setting: such as `synchronous_standby_names=ANY 1 (a)`.
    package func change(_ setting: String) throws {
        let name = setting.prefix { $0 != "=" }
        settings.withLock { $0 = $0.filter { !$0.hasPrefix("\(name)=") } + [setting] }
        try writeSettings()
        life.withLock { $0 }?.child.send(SIGHUP)
    }

    /// Says which roles may connect from where, from now on.
    /// - Parameter lines: of `pg_hba.conf`; all of them.
    func admit(_ lines: [String]) throws {
        try FileSystem.write(lines.map { "\($0)\n" }.joined(), to: "\(data)/pg_hba.conf")
        life.withLock { $0 }?.child.send(SIGHUP)
    }

    // MARK: Replication

    /// It receives what another server writes, from now on; of none: it receives nothing more.
    package func follow(_ primary: DatabaseServer?) throws {
        let from = primary.map { "host=\($0.host) port=\(Self.port) user=loop application_name=\(place.name)" } ?? ""
        try FileSystem.write("primary_conninfo = '\(from)'\n", to: "\(data)/postgresql.auto.conf")
        life.withLock { $0 }?.child.send(SIGHUP)
    }

    /// Waits until it receives nothing and has replayed what it has.
    /// - Returns: how far it is. What it has received names the beginning of a segment after a restart, so that what it has
    ///   replayed may be further.
    func end(within limit: Duration) async throws -> Int64 {
        var connection = try connect()
        let deadline = SystemClock.monotonic + limit
        var last: Int64?
        var restsSince = SystemClock.monotonic
        while SystemClock.monotonic < deadline {
            let found = try connection.run(
                """
                SELECT (SELECT count(*) FROM pg_stat_wal_receiver),
                    pg_wal_lsn_diff(greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()), '0/0')::bigint
                """, "look at \(place.name)", within: limit)
            let now = found.integer(0, 0) == 0 ? found.integer(0, 1) : nil
            if now == nil || now != last { restsSince = SystemClock.monotonic }
            last = now
            if let now, SystemClock.monotonic - restsSince > .milliseconds(200) { return now }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw NodeError.system("\(place.name) still receives, or replays")
    }

    package func promote(within limit: Duration) throws {
        var connection = try connect()
        let found = try connection.run(
            "SELECT pg_promote(true, 30)::int::bigint", "promote \(place.name)", within: limit)
        guard found.integer(0, 0) == 1 else { throw NodeError.system("\(place.name) was not promoted") }
    }

    // MARK: Connections

    /// Its address, or the folder of its socket.
    var host: String { place.address ?? folder }

    /// The host as it is written in a URL.
    var urlHost: String {
        place.address.map { "\($0):\(Self.port)" } ?? folder.split(separator: "/").map { "%2F\($0)" }.joined()
    }

    /// Where a database is, over its socket.
    package func url(_ database: String = "postgres", user: String = "loop") -> String {
        "postgres://\(user)@\(folder.split(separator: "/").map { "%2F\($0)" }.joined())/\(database)"
    }

    /// A connection of the tests' own, over its socket.
    package func connect(_ database: String = "postgres") throws -> PostgresConnection {
        try PostgresConnection(ConnectionString(url(database)), within: .seconds(20))
    }
}
