import Linux
import LoopCollections

/// Notices that the file of an `ipc://` socket was removed or replaced, so that no new peer can connect.
final class SocketFiles: Sendable {
    private enum Seen {
        case file(device: UInt64, number: UInt64)
        case gone
    }

    /// Nil while sockets are closed and opened.
    private let seen = Locked<[String: Seen]?>([:])

    /// Called before sockets are closed and opened. Until ``resume()`` no file counts as missing, and the known
    /// files are forgotten.
    func pause() { seen.withLock { $0 = nil } }

    /// Called when the sockets listen.
    func resume() { seen.withLock { $0 = [:] } }

    /// - Parameter paths: the paths at which sockets listen now.
    /// - Returns: the paths whose files have changed since they were first seen, each once.
    func gone(of paths: Set<String>) -> [String] {
        seen.withLock { state in
            guard var seen = state?.filter({ paths.contains($0.key) }) else { return [] }
            defer { state = seen }
            return paths.sorted().filter { path in
                let status = FileSystem.status(ofName: path)
                switch seen[path] {
                case nil:
                    seen[path] = status.map { .file(device: $0.device, number: $0.number) }
                    return false
                case .file(let device, let number):
                    if let status, (status.device, status.number) == (device, number) { return false }
                    seen[path] = .gone
                    return true
                case .gone: return false
                }
            }
        }
    }
}
