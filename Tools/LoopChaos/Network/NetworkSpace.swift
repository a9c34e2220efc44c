import Glibc
import Linux
import LoopNode

/// The network in which a thread's sockets are made: a namespace, or the process's own network.
struct NetworkSpace: Sendable, Equatable {
    /// The name that `ip netns` knows, or nil for the process's own network.
    let name: String?

    static let own = NetworkSpace(name: nil)

    /// Runs the body on a new thread whose sockets, threads and child processes are made in this network.
    func run<Value: Sendable>(_ thread: String, _ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await NodeThread.run(thread) {
            try enter()
            return try body()
        }
    }

    /// Moves the calling thread into this network for the rest of its life. Its child processes and threads inherit it.
    func enter() throws {
        guard let name else { return }
        let path = "/run/netns/\(name)"
        let space = try Descriptor(opening: path, O_RDONLY)
        do throws(SystemError) {
            try System.enterNetwork(space)
        } catch {
            throw SystemError("enter the network namespace \(name)", code: error.code)
        }
    }
}
