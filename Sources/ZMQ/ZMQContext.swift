// Unsafe: the context ends once, in `deinit`, after all of its sockets. They own it, and the end waits for the handler's socket.
// libzmq lets any thread use a context.

internal import CZMQ
internal import Glibc
internal import Linux

/// libzmq's context: its I/O threads and the namespace of `inproc://`.
///
/// A program has one for its lifetime. Tests may make several. Sockets own their context, so it ends after its last socket.
@safe public final class ZMQContext: Sendable {
    nonisolated(unsafe) private let handle: UnsafeMutableRawPointer

    /// Whether an authenticator decides about the peers of its ``SocketSecurity/server(secretKey:domain:)`` sockets.
    let hasAuthenticator: Bool

    /// Creates a context with at most 16,384 open sockets. Its I/O threads start with its first socket.
    /// - Parameters:
    ///   - ioThreads: threads that move bytes, 1 or more; one carries about a gigabyte per second.
    ///   - authenticator: decides which peers may connect to those sockets of this context that are servers with keys. Without one,
    ///     such sockets cannot be made. It is called on a thread of its own, once for each connection, one at a time. It must
    ///     return soon, because handshakes and the end of the context wait for it. If it throws, the peer is not admitted. It must
    ///     not own the context, which would then never end.
    /// - Throws: ``ZMQError`` if the system refuses memory, descriptors or threads.
    package init(ioThreads: Int = 1, authenticator: ZAPAuthenticator? = nil) throws(ZMQError) {
        precondition(ioThreads >= 1, "a context needs at least 1 I/O thread, not \(ioThreads)")
        _ = Self.isSeeded
        guard let handle = unsafe zmq_ctx_new() else { throw ZMQError(.createContext, code: zmq_errno()) }
        for (option, value) in [(ZMQ_IO_THREADS, ioThreads), (ZMQ_MAX_SOCKETS, 16_384), (ZMQ_BLOCKY, 0)] {
            let result = unsafe loopzmq_context_set(handle, option, Int32(value))
            if result < 0 {
                _ = unsafe loopzmq_context_term(handle)
                throw ZMQError(.createContext, code: -result)
            }
        }
        hasAuthenticator = authenticator != nil
        do {
            if let authenticator { try unsafe ZAPHandler.start(in: handle, authenticator) }
        } catch {
            _ = unsafe loopzmq_context_term(handle)
            throw error
        }
        unsafe self.handle = handle
    }

    /// Creates a libzmq socket.
    func makeSocket(_ kind: SocketKind) throws(ZMQError) -> UnsafeMutableRawPointer {
        guard let socket = unsafe zmq_socket(handle, kind.code) else {
            throw ZMQError(.createSocket, code: zmq_errno())
        }
        return unsafe socket
    }

    /// Gives `rand()` a random seed when the first context is created.
    ///
    /// A router numbers its connections by `rand()`, which libzmq 4.3.4 never seeds. A peer may choose its own number. If the
    /// router comes to a number that a peer has chosen, the process aborts. So peers must not be able to guess the numbers.
    private static let isSeeded: Bool = {
        srand(System.randomBytes(4).reduce(0) { $0 << 8 | UInt32($1) })
        return true
    }()

    deinit {
        // Every socket owned this context, so only the handler's socket is open, and its thread closes it. This waits for that
        // thread and for the I/O threads.
        _ = unsafe loopzmq_context_term(handle)
    }
}
