// Unsafe: a text of constant lifetime that is copied at once.

internal import CZMQ
internal import Glibc

/// An error of libzmq: the operation, the system's code, and the endpoint if it is known.
///
/// A call that would block, or a router's message to a missing peer, gives a value of ``SendResult`` and no error.
package struct ZMQError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The operation that failed. The raw values follow "could not" in the description.
    package enum Operation: String, Sendable, Equatable {
        /// Making a ``ZMQContext``.
        case createContext = "create a ZeroMQ context"
        /// Making a ``Socket``.
        case createSocket = "create a socket"
        /// Applying one of the ``SocketOptions``.
        case setOption = "set a socket option"
        /// Applying a ``SocketSecurity``.
        case secure = "secure a socket"
        /// Making a ``SocketMonitor``.
        case monitor = "monitor a socket"
        /// Listening at an endpoint.
        case bind = "bind"
        /// Stopping to listen at an endpoint.
        case unbind = "unbind"
        /// Beginning to connect to an endpoint.
        case connect = "connect to"
        /// Ending the connection to an endpoint.
        case disconnect = "disconnect from"
        /// Adding a prefix to a `sub`.
        case subscribe = "subscribe"
        /// Queueing a message.
        case send = "send"
        /// Taking a message.
        case receive = "receive"
        /// Making a key pair.
        case makeKeys = "make a CURVE key pair"
        /// Waiting with a ``PollSet``.
        case poll = "wait for messages"
    }

    /// The operation that failed.
    package let operation: Operation
    /// The `errno` of the call, or one of libzmq's own codes.
    package let code: Int32
    /// The endpoint of a bind, unbind, connect or disconnect, or nil.
    package let endpoint: String?

    /// Creates an error from its parts.
    package init(_ operation: Operation, code: Int32, endpoint: String? = nil) {
        self.operation = operation
        self.code = code
        self.endpoint = endpoint
    }

    /// Whether another socket is bound where this one should be.
    package var isAddressInUse: Bool { operation == .bind && code == EADDRINUSE }

    /// The meaning of the code, as the system words it.
    package var text: String { unsafe String(cString: zmq_strerror(code)) }

    /// The remedy, if one is known for this operation and code.
    package var hint: String? {
        switch (operation, code) {
        case (.bind, EADDRINUSE): "another process is bound there; stop it or choose another endpoint"
        case (.bind, EEXIST): "what is there is no socket; remove it, or choose another path"
        case (.bind, ENODEV), (.bind, EADDRNOTAVAIL):
            "this machine has no such address or interface; use one of its own, or tcp://*:PORT for all"
        case (.bind, EACCES): "no permission; ports below 1024 need root, and an ipc:// path a folder you may write"
        case (.bind, ENOENT): "the folder of the ipc:// path does not exist"
        case (_, ENAMETOOLONG): "an ipc:// path has at most 107 bytes"
        case (.bind, EINVAL), (.connect, EINVAL):
            "an endpoint looks like tcp://HOST:PORT, ipc://PATH or inproc://NAME"
        case (_, EPROTONOSUPPORT): "use tcp://, ipc:// or inproc://"
        case (.makeKeys, ENOTSUP), (.secure, ENOTSUP):
            "this libzmq was built without CURVE; install one with it, such as Debian's libzmq5"
        case (.makeKeys, EPROTO): "libzmq made a key that is not 40 characters of Z85"
        case (.secure, EACCES): "its context has no authenticator, which would have to admit its peers"
        case (.secure, EPROTO): "libzmq did not take over what was set, so the socket would not be secure"
        case (.bind, ENOTSUP), (.connect, ENOTSUP):
            "a socket with keys uses tcp:// or ipc://; libzmq does not ask for keys elsewhere"
        case (.createSocket, EMFILE): "too many open sockets or files; raise `ulimit -n`"
        default: nil
        }
    }

    /// One line for people: `could not bind tcp://0.0.0.0:7710: Address already in use (another process …)`.
    package var description: String {
        var line = "could not \(operation.rawValue)"
        if let endpoint { line += " \(endpoint)" }
        line += ": \(text)"
        if let hint { line += " (\(hint))" }
        return line
    }
}
