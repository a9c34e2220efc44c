// Unsafe: libzmq uses what it is passed only during the call.

internal import CZMQ
internal import Linux

/// Clears away what libzmq 4.3.4 leaves after a bind: names of `inproc://` stay taken for some time after the close, files of
/// `ipc://` for ever.
struct BoundEndpoint {
    let endpoint: String
    /// The socket file that the bind made.
    private let file: (path: String, status: FileStatus)?

    init(_ endpoint: String) {
        self.endpoint = endpoint
        file = Self.path(of: endpoint).flatMap { path in FileSystem.status(of: path).map { (path, $0) } }
    }

    /// Whether another process listens at the path of this endpoint. libzmq would take the path over without an error.
    static func isTaken(_ endpoint: String) -> Bool {
        path(of: endpoint).map(Sockets.isListening) ?? false
    }

    /// Releases the name or file. Called before the close, while no other process can have bound there.
    func release(_ socket: UnsafeMutableRawPointer) {
        if endpoint.hasPrefix("inproc://") { _ = unsafe loopzmq_unbind(socket, endpoint) }
        removeFile()
    }

    /// Removes the socket file, unless another file has replaced it.
    func removeFile() {
        guard let file, FileSystem.status(of: file.path)?.isSame(as: file.status) == true else { return }
        try? FileSystem.removeFile(file.path)
    }

    /// The path of an `ipc://` endpoint that names a file, and nil for a wildcard or an abstract name.
    static func path(of endpoint: String) -> String? {
        guard endpoint.hasPrefix("ipc://") else { return nil }
        let path = String(endpoint.dropFirst(6))
        return path == "*" || path.hasPrefix("@") ? nil : path
    }
}
