// Unsafe: the strings that start a child are freed after the call that reads them. The system uses what it is passed only during
// the call.

internal import CLinux
internal import Glibc

/// How a child of this process is started, and how its end is detected.
package struct Child: Sendable {
    /// The path of the program.
    package var path: String
    /// The arguments. The first is the program's own name.
    package var arguments: [String]
    /// The variables, as `name=value`.
    package var environment: [String]
    /// The working directory, or nil for that of this process.
    package var directory: String?
    /// The descriptors that become its standard input, output and errors. Nil keeps this process's.
    package var input, output, errors: Int32?
    /// Whether the child leads a process group.
    package var ownGroup = false
    /// The signal that the child gets when the thread that has started it ends, or nil for none.
    package var deathSignal: Int32?

    /// Describes a program to start.
    package init(_ path: String, _ arguments: [String], environment: [String]) {
        self.path = path
        self.arguments = arguments
        self.environment = environment
    }

    /// Forks, and executes the program.
    /// - Returns: the child's process ID.
    /// - Throws: ``SystemError`` for the call that failed, here or in the child.
    package func start() throws(SystemError) -> Int32 {
        let result = unsafe Self.withCStrings(arguments) { arguments in
            unsafe Self.withCStrings(environment) { variables in
                unsafe path.withCString { path in
                    unsafe Self.withCString(directory) { directory in
                        var child = unsafe loop_child(
                            path: path, arguments: arguments, environment: variables, directory: directory,
                            input: input ?? -1, output: output ?? -1, errors: errors ?? -1,
                            own_group: ownGroup ? 1 : 0, death_signal: deathSignal ?? 0)
                        return unsafe loop_child_start(&child)
                    }
                }
            }
        }
        if result < 0 { throw SystemError("start \(path)", code: -result) }
        return result
    }

    /// Lends strings as C takes them: an array of pointers that ends with a null pointer. They are freed when `body` returns.
    private static func withCStrings<Result>(
        _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers: [UnsafeMutablePointer<CChar>?] = unsafe strings.map { unsafe strdup($0) }
        unsafe pointers.append(nil)
        defer { unsafe pointers.forEach { unsafe free($0) } }
        return unsafe pointers.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { preconditionFailure("an array of one element has no address") }
            return unsafe body(base)
        }
    }

    /// Lends a string as C takes it, until `body` returns.
    private static func withCString<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        guard let text else { return body(nil) }
        return unsafe text.withCString { unsafe body($0) }
    }

    // MARK: Its end

    /// A descriptor that becomes readable when the process ends, or nil if the kernel has no such descriptors.
    package static func end(of processID: Int32) -> Descriptor? {
        let number = loop_pidfd_open(processID)
        return number < 0 ? nil : Descriptor(number, name: "a process")
    }

    /// Whether a child has ended, or is no longer a child of this process. It is not reaped.
    package static func hasEnded(_ processID: Int32) -> Bool {
        var info = unsafe siginfo_t()
        let result = unsafe waitid(P_PID, id_t(processID), &info, WEXITED | WNOHANG | WNOWAIT)
        return result == 0 ? unsafe info.si_signo == SIGCHLD : errno == ECHILD
    }

    /// Waits until a child has ended, but does not reap it.
    package static func waitForEnd(_ processID: Int32) {
        var info = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(processID), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
    }

    /// Waits until a child has ended, and reaps it. Afterwards its number may belong to another process.
    /// - Returns: the status from `waitpid`.
    package static func reap(_ processID: Int32) -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(processID, &status, 0) < 0 && errno == EINTR {}
        return status
    }
}
