internal import Glibc
internal import LoopLock

/// A process that this one started, and that does not outlive it: the kernel kills it when this process ends, even when
/// this process is killed. Its own children are its own business, unless it leads a group (see ``Plan/ownGroup``).
///
/// One thread of this process keeps the child: it forks (the kernel ties "the parent ends" to the thread that forked),
/// reads the child's output, and ends when the child has.
public final class ChildProcess: Sendable {
    /// The child's process ID; its group's too where it has its own.
    public let processID: Int32
    private let keeping: Locked<ChildKeeping>
    private let ownGroup: Bool

    /// Starts the program, and returns once it runs.
    ///
    /// - Throws: ``SystemError`` that names the program, when it is not there, may not be run, or there is no room.
    public init(_ plan: Plan) throws(SystemError) {
        let started = Monitor<Result<Int32, SystemError>?>(nil)
        let keeping = Locked(ChildKeeping())
        self.keeping = keeping
        ownGroup = plan.ownGroup
        _ = try NodeThread("child", stackBytes: 512 << 10) {
            ChildKeeper(plan: plan, keeping: keeping).run { result in
                started.withLock { $0 = result }
                started.broadcast()
            }
        }
        let result = started.wait(until: { $0 != nil }, then: { $0 })
        guard let result else { preconditionFailure("\(plan.program) was neither started nor refused") }
        processID = try result.get()
    }

    /// Waits until it has ended and its output was delivered.
    public func wait() async -> ProcessExit {
        await withCheckedContinuation { continuation in
            let status = keeping.withLock { keeping in
                if keeping.settled == nil { keeping.waiters.append(continuation) }
                return keeping.settled
            }
            if let status { continuation.resume(returning: status) }
        }
    }

    /// How it ended, or nil while it runs.
    public var status: ProcessExit? { keeping.withLock { $0.settled } }

    /// Asks it to end (SIGTERM).
    public func terminate() { send(SIGTERM) }

    /// Ends it (SIGKILL), also when it is stopped or does not listen.
    public func kill() { send(SIGKILL) }

    /// Sends a signal by number to the child, or to its whole group where it has its own; nothing once it has ended.
    public func send(_ signal: Int32) {
        let target = ownGroup ? -processID : processID
        keeping.withLock { keeping in
            // Not reaped yet, so the number still belongs to it.
            if !keeping.isReaped { _ = Glibc.kill(target, signal) }
        }
    }
}

/// What a child's keeper and its owner share.
struct ChildKeeping {
    /// The number may belong to another process from now on.
    var isReaped = false
    /// Set when it has ended and all its output was delivered.
    var settled: ProcessExit?
    var waiters: [CheckedContinuation<ProcessExit, Never>] = []
}

extension ChildProcess {
    /// What is to be run, and how.
    public struct Plan: Sendable {
        /// A path, or a name to be found in `PATH`.
        public var program: String
        /// Without the program's own name.
        public var arguments: [String]
        /// All its variables; nil gives it this process's.
        public var environment: [String: String]?
        /// Where it runs; nil for where this process does.
        public var directory: String?
        /// Where its standard output and errors go.
        public var output: Output
        /// It leads a process group: Ctrl-C in the terminal does not reach it, signals sent here reach its children too,
        /// and what is left of the group when it ends is killed.
        public var ownGroup: Bool
        /// What the kernel sends it when this process ends.
        public var deathSignal: Int32

        /// Creates the description of a process to start. Without an environment it inherits this process's.
        public init(
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

    /// Where a child's output goes. Its input is always empty.
    public enum Output: Sendable {
        /// Where this process's goes.
        case inherited
        /// Nowhere.
        case discarded
        /// Here, line by line without the line's end, on a thread of the child's keeper, which reads no further meanwhile.
        /// A line longer than 64 KiB comes in chunks; bytes that are no UTF-8 are replaced.
        case lines(@Sendable (Channel, String) -> Void)
    }

    /// Which of a child's two outputs a line came from.
    public enum Channel: Sendable, Hashable {
        case output
        case errors
    }
}
