import Glibc
import LoopCollections
import LoopNode
import LoopWire
import TestFolders

/// A reducer of the ledger as a process of this machine, over TCP, with keys or without.
final class LedgerProcess: Sendable {
    /// Whom a test speaks as, to a reducer with keys.
    enum Role: String, CaseIterable {
        case worker, observer, sender, admin
        /// A sender too, with a key of its own.
        case attacker

        var role: String { self == .attacker ? Role.sender.rawValue : rawValue }
    }

    let address = freeAddress()
    let folder = TestFolder()
    private let isKeyed: Bool
    private let journal: String
    private let more: [String]
    private let lives = Locked<[ChildProcess]>([])
    private let lines = Locked<[String]>([])

    /// - Parameters:
    ///   - keys: whether it has keys. Those of all roles are made by `loopctl keygen`.
    ///   - journal: `memory`, or nil: a file.
    ///   - arguments: more options of the reducer.
    init(keys: Bool, journal: String? = nil, arguments: [String] = []) async throws {
        isKeyed = keys
        self.journal = journal ?? "\(folder.path)/journal"
        more = arguments
        folder.write("pages/.kept", "")
        if keys {
            try await keygen("server", role: "reducer")
            for role in Role.allCases { try await keygen(role.rawValue, role: role.role) }
        }
        try await start()
    }

    deinit { for life in lives.withLock({ $0 }) { life.kill() } }

    /// The newest process.
    var process: ChildProcess { lives.withLock { $0[$0.count - 1] } }

    /// What its processes have said to people.
    var said: [String] { lines.withLock { $0 } }

    /// Starts it, or starts it again by the same command, and waits until it listens.
    func start() async throws {
        let before = said.count
        try spawn()
        try await says("listening at", after: before)
    }

    /// Starts a second process of it, which waits for the journal.
    /// - Parameter other: where it listens then, if not where the first one does.
    func startWaiting(at other: ReducerAddress? = nil) async throws {
        let before = said.count
        try spawn(["--wait"], at: other)
        try await says("waiting for it", after: before)
    }

    private func spawn(_ options: [String] = [], at other: ReducerAddress? = nil) throws {
        let lines = lines
        let process = try ChildProcess(
            .init(
                Executables.path("loop-reducer"),
                [
                    "ledger", "--bind", (other ?? address).description, "--journal", journal, "--silence-limit", "1s",
                ] + (isKeyed ? ["--keys", keys] : []) + options + more + ["\(folder.path)/pages"],
                output: .lines { _, line in lines.withLock { $0.append(line) } }))
        lives.withLock { $0.append(process) }
    }

    /// Waits until the newest process has said something.
    func says(_ text: String, after before: Int) async throws {
        while !said.dropFirst(before).contains(where: { $0.contains(text) }) {
            guard process.status == nil else { throw NodeError.system("the reducer ended: \(said)") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// The one that was started before the newest.
    var formerProcess: ChildProcess { lives.withLock { $0[$0.count - 2] } }

    /// The options by which a program of ours is a peer in this role.
    func options(_ role: Role) -> [String] {
        guard isKeyed else { return ["--reducer", address.description] }
        return [
            "--reducer", address.description, "--key", secret(role.rawValue), "--reducer-key", "\(keys)/server.key",
        ]
    }

    /// The options by which the independent peer is one in this role.
    func independentOptions(_ role: Role) -> [String] {
        guard isKeyed else { return ["--reducer", address.description] }
        return ["--reducer", address.description, "--key", secret(role.rawValue), "--server-key", "\(keys)/server.key"]
    }

    /// Asks for the status until it is as wanted.
    func status(where isWanted: @escaping (StatusReport) -> Bool = { _ in true }) async throws -> StatusReport {
        let key = isKeyed ? secret("admin") : nil
        let address = try address.with(key: key, reducerKey: isKeyed ? "\(keys)/server.key" : nil)
        return try await EndToEndTests.status(of: address, until: isWanted)
    }

    /// What `loopctl state` prints: the seq and the state, in JSON.
    func state() async throws -> String {
        try await Program.run(Executables.path("loopctl"), ["state", "--json"] + options(.admin))
    }

    /// Sends one event as a well-behaved peer, and waits until it is applied.
    /// - Returns: its seq.
    func send(_ event: String) async throws -> UInt64 {
        let seq = try await Program.run(Executables.path("loopctl"), ["send", event] + options(.sender))
        guard let number = UInt64(seq) else { throw NodeError.system("no seq: \(seq)") }
        return number
    }

    /// How much memory the process has, in KB.
    var residentKilobytes: Int? {
        contents(of: "/proc/\(process.processID)/status")?.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }?
            .split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    }

    /// The options of an independent peer whose key is not admitted.
    func strangersOptions() async throws -> [String] {
        let elsewhere = "\(folder.path)/elsewhere"
        _ = try await Program.run(
            Executables.path("loopctl"), ["keygen", elsewhere, "stranger", "--role", "sender"])
        return [
            "--reducer", address.description, "--key", "\(elsewhere)/stranger.key_secret", "--server-key",
            "\(keys)/server.key",
        ]
    }

    private var keys: String { "\(folder.path)/keys" }

    private func secret(_ name: String) -> String { "\(keys)/\(name).key_secret" }

    private func keygen(_ name: String, role: String) async throws {
        _ = try await Program.run(Executables.path("loopctl"), ["keygen", keys, name, "--role", role])
    }
}

/// A program, and what it prints.
final class Program: Sendable {
    let process: ChildProcess
    private let output = Locked<[String]>([])
    private let errors = Locked<[String]>([])

    init(_ program: String, _ arguments: [String]) throws {
        let (output, errors) = (output, errors)
        process = try ChildProcess(
            .init(
                program, arguments,
                output: .lines { channel, line in
                    let kept = channel == .output ? output : errors
                    kept.withLock { $0.append(line) }
                }))
    }

    /// What it has printed so far.
    var printed: String { output.withLock { $0.joined(separator: "\n") } }

    /// What it has complained about so far.
    var complaints: String { errors.withLock { $0.joined(separator: "\n") } }

    /// Waits for its end.
    /// - Returns: what it printed.
    /// - Throws: what it said, if its exit code is not 0.
    func finished() async throws -> String {
        let exit = await process.wait()
        guard exit == .exited(0) else { throw NodeError.system("\(exit): \(printed) \(complaints)") }
        return printed
    }

    /// Runs a program to its end.
    static func run(_ program: String, _ arguments: [String]) async throws -> String {
        try await Program(program, arguments).finished()
    }
}
