// Unsafe: the context ends once, in `deinit`, after all of its sockets: they hold it, and the end waits for the handler's.
// libzmq lets any thread use it.

internal import CZMQ
internal import Glibc
internal import Linux

/// libzmq's context: its I/O threads and the namespace of `inproc://`.
///
/// A program has one for its lifetime; tests may make several. Sockets hold their context, so it ends after its last
/// socket.
@safe public final class ZMQContext: Sendable {
    nonisolated(unsafe) private let handle: UnsafeMutableRawPointer

    /// Whether peers of its ``SocketSecurity/server(secretKey:domain:)`` sockets are asked for.
    let hasAuthenticator: Bool

    /// Creates a context. Its I/O threads start with its first socket.
    /// - Parameters:
    ///   - ioThreads: threads that move bytes, 1 or more; one carries about a gigabyte a second.
    ///   - socketsMax: how many sockets may be open at once, 1…65535.
    ///   - authenticator: decides who may connect to the sockets of this context that are servers with keys; they cannot be made
    ///     without one. It is asked before any of them exists, on a thread of its own, once for each connection, one after another:
    ///     it must not wait for long, since handshakes, and the end of the context, wait for it. If it throws, the peer is
    ///     refused. It must not hold the context, which would then never end.
    /// - Throws: ``ZMQError`` if the system refuses memory, descriptors or threads.
    public init(
        ioThreads: Int = 1, socketsMax: Int = 16_384, authenticator: ZAPAuthenticator? = nil
    ) throws(ZMQError) {
        precondition(ioThreads >= 1, "a context needs at least 1 I/O thread, not \(ioThreads)")
        precondition((1...65_535).contains(socketsMax), "a context holds 1…65535 sockets, not \(socketsMax)")
        _ = Self.isSeeded
        guard let handle = unsafe zmq_ctx_new() else { throw ZMQError(.createContext, code: zmq_errno()) }
        for (option, value) in [(ZMQ_IO_THREADS, ioThreads), (ZMQ_MAX_SOCKETS, socketsMax), (ZMQ_BLOCKY, 0)] {
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

    /// Wakes every call that waits on a socket of this context; from now on all of them fail with
    /// ``ZMQError/isTerminated``. May be called from any thread, and more than once.
    public func terminate() {
        _ = unsafe loopzmq_context_shutdown(handle)
    }

    /// A new libzmq socket, or the code of the failure.
    func makeSocket(_ kind: SocketKind) throws(ZMQError) -> UnsafeMutableRawPointer {
        guard let socket = unsafe zmq_socket(handle, kind.code) else {
            throw ZMQError(.createSocket, code: zmq_errno())
        }
        return unsafe socket
    }

    /// True once `rand()` has a random seed, which it has from the first context on.
    ///
    /// A router numbers its connections from `rand()`, which libzmq 4.3.4 never seeds. A peer may choose its own number, and the
    /// process aborts when the router comes to a number that a peer has chosen. So peers must not know the numbers.
    private static let isSeeded: Bool = {
        srand(System.randomBytes(4).reduce(0) { $0 << 8 | UInt32($1) })
        return true
    }()

    deinit {
        // Every socket held this context, so none is open but the handler's, which its thread closes: this waits for that thread
        // and for the I/O threads.
        _ = unsafe loopzmq_context_term(handle)
    }
}
