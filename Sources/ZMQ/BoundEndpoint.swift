// Unsafe: libzmq and the system use what they are passed only during the call.

internal import CLinux
internal import CZMQ
internal import Glibc

/// Clears away what libzmq 4.3.4 leaves after a bind: names of `inproc://` stay taken for some time after the close, files of
/// `ipc://` for ever.
struct BoundEndpoint {
    let endpoint: String
    /// The socket file that the bind made, with its device and number.
    private let file: (path: String, device: dev_t, number: ino_t)?

    init(_ endpoint: String) {
        self.endpoint = endpoint
        let path = Self.path(of: endpoint)
        file = path.flatMap { path in
            var status = stat()
            return unsafe stat(path, &status) == 0 ? (path, status.st_dev, status.st_ino) : nil
        }
    }

    /// Whether another process listens at the path of this endpoint. libzmq would take the path over without an error.
    static func isTaken(_ endpoint: String) -> Bool {
        path(of: endpoint).map { unsafe loop_unix_is_listening($0) == 1 } ?? false
    }

    /// Releases the name or file. Called before the close, while no other process can have bound there.
    func release(_ socket: UnsafeMutableRawPointer) {
        if endpoint.hasPrefix("inproc://") { _ = unsafe loopzmq_unbind(socket, endpoint) }
        removeFile()
    }

    /// Removes the socket file, unless another file has replaced it.
    func removeFile() {
        guard let file else { return }
        var status = stat()
        guard unsafe stat(file.path, &status) == 0, status.st_dev == file.device, status.st_ino == file.number else {
            return
        }
        unsafe unlink(file.path)
    }

    /// The path of an `ipc://` endpoint that names a file, and nil for a wildcard or an abstract name.
    static func path(of endpoint: String) -> String? {
        guard endpoint.hasPrefix("ipc://") else { return nil }
        let path = String(endpoint.dropFirst(6))
        return path == "*" || path.hasPrefix("@") ? nil : path
    }
}
