// Unsafe: one thread has the socket, from the thread's start to the socket's close. libzmq allows that another thread has created
// it.

internal import CZMQ
internal import Linux

/// The socket at which libzmq asks whether a peer may connect, and the thread that answers.
///
/// It is bound before any other socket of its context can be made. The thread ends with the context. Without it no peer is admitted
/// (`ZMQ_ZAP_ENFORCE_DOMAIN`).
@safe struct ZAPHandler: Sendable {
    nonisolated(unsafe) private let socket: UnsafeMutableRawPointer
    private let authenticator: ZAPAuthenticator

    /// Binds the socket and starts the thread.
    /// - Throws: ``ZMQError`` if the system has no descriptors or no space for a thread.
    static func start(
        in context: UnsafeMutableRawPointer, _ authenticator: @escaping ZAPAuthenticator
    ) throws(ZMQError) {
        guard let socket = unsafe zmq_socket(context, ZMQ_REP) else {
            throw ZMQError(.createContext, code: zmq_errno())
        }
        let handler = unsafe ZAPHandler(socket: socket, authenticator: authenticator)
        let code = handler.start()
        guard code == 0 else {
            _ = unsafe loopzmq_close(socket)
            throw ZMQError(.createContext, code: code)
        }
    }

    /// - Returns: 0, or the code of the error.
    private func start() -> Int32 {
        var linger: Int32 = 0
        var result = unsafe loopzmq_set(socket, ZMQ_LINGER, &linger, MemoryLayout<Int32>.size)
        if result >= 0 { result = unsafe loopzmq_bind(socket, "inproc://zeromq.zap.01") }
        if result < 0 { return -result }
        do {
            try SystemThread.start("loop-zap", stackBytes: 512 << 10) { run() }
            return 0
        } catch {
            return error.code
        }
    }

    /// Answers until the context ends. After any other error no peer is admitted.
    private func run() {
        defer { _ = unsafe loopzmq_close(socket) }
        let message = Message()
        while let request = unsafe try? Multipart.receive(from: socket, by: message, waits: true) {
            let answer = ZAPAnswer(to: request, by: authenticator)
            do {
                try unsafe Multipart.send(answer.frames, to: socket)
            } catch {
                return
            }
        }
    }
}
