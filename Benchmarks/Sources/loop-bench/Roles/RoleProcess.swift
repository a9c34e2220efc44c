import Foundation
import LoopNode

/// A process of a case: this program, started again to be one of its nodes, or a peer's. What it has to say it prints as
/// lines `name value…`.
final class RoleProcess: Sendable {
    private let role: String
    private let child: ChildProcess
    private let lines: AsyncStream<String>
    /// Samples the process where `LOOP_BENCH_PROFILE` names its role, into `profile-ROLE-PID.data`.
    private let profiler: ChildProcess?

    /// This program as one node.
    convenience init(_ role: String, _ arguments: [String: String] = [:]) throws {
        let words = arguments.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        try self.init(role, ChildProcess.Plan("/proc/self/exe", ["--role", role] + words))
    }

    /// Another program. It ends with this process, and its group with it when it is ended from here.
    /// - Parameter isServer: whether its standard error tells what it does. Its lines are not shown, but callers wait for some.
    convenience init(_ program: String, _ arguments: [String], in folder: String, isServer: Bool) throws {
        let plan = ChildProcess.Plan(program, arguments, directory: folder, ownGroup: true)
        try self.init(program.split(separator: "/").last.map(String.init) ?? program, plan, showsErrors: !isServer)
    }

    private init(_ role: String, _ plan: ChildProcess.Plan, showsErrors: Bool = true) throws {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        var plan = plan
        plan.output = .lines { channel, line in
            if channel == .errors, showsErrors {
                StandardError.line("\(role): \(line)")
            } else {
                continuation.yield(line)
            }
        }
        let child = try ChildProcess(plan)
        self.role = role
        self.child = child
        self.lines = lines
        profiler = try Self.profiler(role, child.processID)
        // Ends the sequence of lines when the process has ended.
        Task {
            _ = await child.wait()
            continuation.finish()
        }
    }

    private static func profiler(_ role: String, _ process: Int32) throws -> ChildProcess? {
        guard ProcessInfo.processInfo.environment["LOOP_BENCH_PROFILE"] == role else { return nil }
        let output = "profile-\(role)-\(process).data"
        return try ChildProcess(
            ChildProcess.Plan(
                "perf", ["record", "-q", "-e", "cpu-clock", "-F", "1999", "-g", "-p", "\(process)", "-o", output]))
    }

    var processID: Int32 { child.processID }

    /// What it says under a name, waited for.
    func answer(_ name: String) async throws -> String {
        for await line in lines where line.hasPrefix(name + " ") {
            return String(line.dropFirst(name.count + 1))
        }
        throw BenchmarkError.role("the \(role) ended (\(await child.wait())) and did not say its \(name)")
    }

    /// The first line with these words, waited for.
    func line(with words: String) async throws -> String {
        var last = "nothing"
        for await line in lines {
            if line.contains(words) { return line }
            last = line
        }
        throw BenchmarkError.role(
            "the \(role) ended (\(await child.wait())) before \"\(words)\"; its last line was: \(last)")
    }

    /// A number that it says under a name.
    func number(_ name: String) async throws -> Double {
        let text = try await answer(name)
        guard let number = Double(text) else { throw BenchmarkError.role("the \(role) said \(name) \(text)") }
        return number
    }

    /// Waits until it has ended well.
    func finish() async throws {
        let end = await child.wait()
        guard end.isSuccess else { throw BenchmarkError.role("the \(role) ended with \(end)") }
    }

    /// Ends it, when its work was done or not.
    func end() async {
        child.kill()
        _ = await child.wait()
        // It ends, and writes what it has seen, once its process is gone.
        _ = await profiler?.wait()
    }
}

/// The processes of one run of a variant.
final class RoleProcesses {
    private var started: [RoleProcess] = []
    /// Given to every process started, beside its own arguments.
    var shared: [String: String] = [:]

    func start(_ role: String, _ arguments: [String: String] = [:]) throws -> RoleProcess {
        let process = try RoleProcess(role, arguments.merging(shared) { own, _ in own })
        started.append(process)
        return process
    }

    /// Starts a program in a folder; see ``RoleProcess``.
    func start(
        _ program: String, _ arguments: [String], in folder: String, isServer: Bool = false
    ) throws -> RoleProcess {
        let process = try RoleProcess(program, arguments, in: folder, isServer: isServer)
        started.append(process)
        return process
    }

    fileprivate func end() async {
        // The last first: who asks before who answers.
        for process in started.reversed() { await process.end() }
    }
}

/// Runs `body` with processes that end with it, whatever happens.
func withRoles<Result>(_ body: (RoleProcesses) async throws -> Result) async throws -> Result {
    let roles = RoleProcesses()
    do {
        let result = try await body(roles)
        await roles.end()
        return result
    } catch {
        await roles.end()
        throw error
    }
}
