internal import Glibc
internal import LoopCollections

/// A process that this one started and that does not outlive it: the kernel kills it when this process ends, even by SIGKILL.
/// Processes that it starts itself are not tracked, unless it leads a group (see ``Plan/ownGroup``).
///
/// One thread of this process keeps the child. It forks, because the kernel sends the death signal when the thread that forked
/// ends. Then it reads the child's output, and ends when the child has ended.
package final class ChildProcess: Sendable {
    /// The child's process ID, which is also its group's ID if it has its own group.
    package let processID: Int32
    /// Whether it is reaped. From then on the number may belong to another process.
    private let isReaped = Locked(false)
    /// How it ended, once all its output was delivered.
    private let end = AwaitedValue<ProcessExit>()
    private let ownGroup: Bool

    /// Starts the program, and returns once it runs.
    ///
    /// - Throws: ``SystemError`` that names the program, if it does not exist, may not be run, or resources are missing.
    package init(_ plan: Plan) throws(SystemError) {
        let started = Monitor<Result<Int32, SystemError>?>(nil)
        ownGroup = plan.ownGroup
        _ = try NodeThread("child", stackBytes: 512 << 10) { [isReaped, end] in
            ChildKeeper(plan: plan, isReaped: isReaped, end: end).run { result in
                started.withLock { $0 = result }
                started.broadcast()
            }
        }
        let result = started.wait(until: { $0 != nil }, then: { $0 })
        guard let result else { preconditionFailure("\(plan.program) was neither started nor refused") }
        processID = try result.get()
    }

    /// Waits until it has ended and its output was delivered.
    package func wait() async -> ProcessExit { await end.get() }

    /// How it ended, or nil while it runs.
    package var status: ProcessExit? { end.value }

    /// Asks it to end (SIGTERM).
    package func terminate() { send(SIGTERM) }

    /// Ends it (SIGKILL), even if it is stopped or ignores signals.
    package func kill() { send(SIGKILL) }

    /// Sends a signal by number to the child, or to its whole group if it has its own. Does nothing once it has ended.
    package func send(_ signal: Int32) {
        let target = ownGroup ? -processID : processID
        isReaped.withLock { isReaped in
            // The child is not reaped yet, so the number still belongs to it.
            if !isReaped { _ = Glibc.kill(target, signal) }
        }
    }
}

extension ChildProcess {
    /// What to run, and how.
    package struct Plan: Sendable {
        /// A path, or a name to be found in `PATH`.
        package var program: String
        /// The arguments, without the program's own name.
        package var arguments: [String]
        /// All its variables, or nil for those of this process.
        package var environment: [String: String]?
        /// Its working directory, or nil for that of this process.
        package var directory: String?
        /// The destination of its standard output and standard error.
        package var output: Output
        /// Whether it leads a process group. Then Ctrl-C in the terminal does not reach it, and signals sent here reach its
        /// children too. When it ends, the rest of the group is killed.
        package var ownGroup: Bool
        /// The signal that the kernel sends it when this process ends.
        package var deathSignal: Int32

        /// Creates the description of a process to start. Without an environment it inherits this process's.
        package init(
            _ program: String, _ arguments: [String] = [], environment: [String: String]? = nil,
            directory: String? = nil, output: Output = .inherited, ownGroup: Bool = false, deathSignal: Int32 = 9
        ) {
            self.program = program
            self.arguments = arguments
            self.environment = environment
            self.directory = directory
            self.output = output
            self.ownGroup = ownGroup
            self.deathSignal = deathSignal
        }
    }

    /// The destination of a child's output. Its input is always empty.
    package enum Output: Sendable {
        /// To the output of this process.
        case inherited
        /// Nowhere.
        case discarded
        /// To a closure, line by line without newlines, on the thread of the child's keeper, which reads no further meanwhile.
        /// A line longer than 64 KiB comes in chunks. Bytes that are not UTF-8 are replaced.
        case lines(@Sendable (Channel, String) -> Void)
    }

    /// Which of a child's two outputs a line came from.
    package enum Channel: Sendable, Hashable {
        case output
        case errors
    }
}
