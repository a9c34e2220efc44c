// Unsafe: `setns` of the C library has the type that it is cast to; nothing is kept after a call.

import Glibc
import LoopNode

/// Where a thread's sockets are made: a network namespace, or the process's own.
struct NetworkSpace: Sendable, Equatable {
    /// The name that `ip netns` knows; nil: the process's own network.
    let name: String?

    static let own = NetworkSpace(name: nil)

    /// Runs the body on a new thread whose sockets, threads and child processes are made in this network.
    func run<Value: Sendable>(_ thread: String, _ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await NodeThread.run(thread) {
            try enter()
            return try body()
        }
    }

    /// Moves the calling thread here for the rest of its life; what it starts from now on inherits it.
    func enter() throws {
        guard let name else { return }
        let path = "/run/netns/\(name)"
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError("open \(path)", code: errno) }
        defer { close(descriptor) }
        guard let function = unsafe dlsym(nil, "setns") else { throw SystemError("find setns", code: ENOSYS) }
        // Declared for GNU programs only, so that the Glibc module does not show it.
        typealias SetNamespace = @convention(c) (Int32, Int32) -> Int32
        let code = unsafe unsafeBitCast(function, to: SetNamespace.self)(descriptor, 0x4000_0000)
        guard code == 0 else { throw SystemError("enter the network namespace \(name)", code: errno) }
    }
}
