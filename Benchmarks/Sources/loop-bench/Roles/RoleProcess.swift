import Foundation
import LoopNode

/// This program, started again to be one node of a case. What it has to say it prints as lines `name value…`.
final class RoleProcess: Sendable {
    private let role: String
    private let child: ChildProcess
    private let lines: AsyncStream<String>
    /// Samples the process where `LOOP_BENCH_PROFILE` names its role, into `profile-ROLE-PID.data`.
    private let profiler: ChildProcess?

    init(_ role: String, _ arguments: [String: String] = [:]) throws {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        var plan = ChildProcess.Plan(
            "/proc/self/exe", ["--role", role] + arguments.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
        plan.output = .lines { channel, line in
            if channel == .errors { StandardError.line("\(role): \(line)") } else { continuation.yield(line) }
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

    /// What it says under a name, waited for.
    func answer(_ name: String) async throws -> String {
        for await line in lines where line.hasPrefix(name + " ") {
            return String(line.dropFirst(name.count + 1))
        }
        throw BenchmarkError.role("the \(role) ended (\(await child.wait())) and did not say its \(name)")
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

    fileprivate func end() async {
        for process in started { await process.end() }
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
