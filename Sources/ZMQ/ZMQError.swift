internal import CZMQ
internal import Glibc

/// What went wrong at the door to libzmq: the operation, the system's code, and the endpoint where one is known.
///
/// A call that would block, and a router's message to a peer that is not there, are values of ``SendResult`` and no errors.
public struct ZMQError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What was being done.
    public enum Operation: String, Sendable, Equatable {
        case createContext = "create a ZeroMQ context"
        case createSocket = "create a socket"
        case setOption = "set a socket option"
        case bind = "bind"
        case unbind = "unbind"
        case connect = "connect to"
        case disconnect = "disconnect from"
        case subscribe = "subscribe"
        case unsubscribe = "unsubscribe"
        case send = "send"
        case receive = "receive"
        case poll = "wait for messages"
    }

    public let operation: Operation
    /// The `errno` of the call, or one of libzmq's own codes.
    public let code: Int32
    /// The endpoint of a bind or connect, or nil.
    public let endpoint: String?

    public init(_ operation: Operation, code: Int32, endpoint: String? = nil) {
        self.operation = operation
        self.code = code
        self.endpoint = endpoint
    }

    /// The context was terminated: close the sockets and leave quietly.
    public var isTerminated: Bool { code == ETERM }

    /// Somebody else is bound at the endpoint.
    public var isAddressInUse: Bool { code == EADDRINUSE }

    /// What the code means, in the system's words.
    public var text: String { String(cString: zmq_strerror(code)) }

    /// What to do about it, where that is known.
    public var hint: String? {
        switch (operation, code) {
        case (.bind, EADDRINUSE): "another process is bound there; stop it or choose another endpoint"
        case (.bind, ENODEV), (.bind, EADDRNOTAVAIL):
            "this machine has no such address or interface; use one of its own, or tcp://*:PORT for all"
        case (.bind, EACCES): "no permission; ports below 1024 need root, and an ipc:// path a folder you may write"
        case (.bind, ENOENT): "the folder of the ipc:// path does not exist"
        case (_, ENAMETOOLONG): "an ipc:// path has at most 107 bytes"
        case (.bind, EINVAL), (.connect, EINVAL):
            "an endpoint looks like tcp://HOST:PORT, ipc://PATH or inproc://NAME"
        case (_, EPROTONOSUPPORT): "use tcp://, ipc:// or inproc://"
        case (.createSocket, EMFILE): "too many open sockets or files; raise `ulimit -n`"
        default: nil
        }
    }

    /// One line for people: `could not bind tcp://0.0.0.0:7710: Address already in use (another process …)`.
    public var description: String {
        var line = "could not \(operation.rawValue)"
        if let endpoint { line += " \(endpoint)" }
        line += ": \(text)"
        if let hint { line += " (\(hint))" }
        return line
    }
}
