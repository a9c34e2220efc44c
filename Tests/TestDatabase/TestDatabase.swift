internal import Glibc
internal import LoopLock
internal import LoopNode
public import PostgreSQL

/// A PostgreSQL server of a test's own, which listens on a socket in a folder of its own and on no port. It syncs, as one that is
/// relied on does. It ends with this process, however that ends.
public final class TestDatabase: Sendable {
    private let folder: TemporaryFolder
    private let lives = Locked<[ChildProcess]>([])
    private let databasesCount = Locked(0)
    private let settings: [String]

    /// One for all tests of a process that do not stop it. Each makes a database of its own.
    public static let shared = Task {
        let database = try await TestDatabase()
        atexit { lastDatabase.withLock { $0 }?.end() }
        lastDatabase.withLock { $0 = database }
        return database
    }

    /// Where Debian's package has the programs of the server.
    private static let programs = "/usr/lib/postgresql/15/bin"

    /// Makes the server's files, and starts it.
    /// - Parameter settings: more of its settings, such as `max_connections=20`.
    public init(_ settings: [String] = []) async throws {
        self.settings = settings
        folder = try TemporaryFolder("pg")
        // A server refuses to run as root.
        if getuid() == 0 {
            precondition(chown(folder.path, Self.nobody, Self.nobody) == 0, "no owner of \(folder.path)")
        }
        let lines = Locked([String]())
        let plan = Self.plan(
            "initdb",
            ["-D", "\(folder.path)/data", "-U", "loop", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
            output: .lines { _, line in lines.withLock { $0.append(line) } })
        let exit = try await ChildProcess(plan).wait()
        guard exit == .exited(0) else { throw NodeError.system("initdb: \(exit): \(lines.withLock { $0 })") }
        try await start()
    }

    deinit { end() }

    fileprivate func end() {
        for life in lives.withLock({ $0 }) { life.kill() }
        folder.remove()
    }

    private static let nobody: uid_t = 65534

    private static func plan(
        _ program: String, _ arguments: [String], output: ChildProcess.Output
    ) -> ChildProcess.Plan {
        let path = "\(programs)/\(program)"
        guard getuid() == 0 else { return ChildProcess.Plan(path, arguments, output: output) }
        // The change of the user takes away the signal at this process's end, so setpriv sets it again.
        let user = ["--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups", "--pdeathsig=KILL"]
        return ChildProcess.Plan("setpriv", user + [path] + arguments, directory: "/", output: output)
    }

    /// Starts the server, or starts it again, and waits until it takes connections.
    public func start() async throws {
        let said = Monitor((isReady: false, lines: [String]()))
        let settings = ["listen_addresses=", "unix_socket_directories=\(folder.path)", "fsync=on"] + settings
        let plan = Self.plan(
            "postgres", ["-D", "\(folder.path)/data"] + settings.flatMap { ["-c", $0] },
            output: .lines { _, line in
                said.withLock { said in
                    said.lines.append(line)
                    if line.contains("ready to accept connections") { said.isReady = true }
                }
                said.broadcast()
            })
        let process = try ChildProcess(plan)
        lives.withLock { $0.append(process) }
        while !said.wait(until: { $0.isReady }, timeout: .milliseconds(10)) {
            guard process.status == nil else { throw NodeError.system("postgres: \(said.withLock { $0.lines })") }
            await Task.yield()
        }
    }

    /// Ends the server as a loss of its machine's power would, but for what the system has in memory.
    public func kill() async {
        for life in lives.withLock({ $0 }) {
            life.kill()
            _ = await life.wait()
        }
    }

    /// Where a database of the server is.
    public func url(_ name: String = "postgres", user: String = "loop") -> String {
        "postgres://\(user)@\(folder.path.split(separator: "/").map { "%2F\($0)" }.joined())/\(name)"
    }

    /// An empty database that nobody else has.
    /// - Returns: its URL.
    public func makeDatabase() throws -> ConnectionString {
        let number = databasesCount.withLock { count in
            count += 1
            return count
        }
        var connection = try connect(url())
        _ = try connection.run("CREATE DATABASE test\(number)", "make a database", within: .seconds(60))
        return try ConnectionString(url("test\(number)"))
    }

    /// A connection of the tests' own.
    public func connect(_ url: String) throws -> PostgresConnection {
        try PostgresConnection(ConnectionString(url), within: .seconds(20))
    }
}

/// The shared one, which is ended when the process exits.
private let lastDatabase = Locked<TestDatabase?>(nil)
