import Glibc
import Linux

/// An IPv4 address and a port, and the few calls that a proxy makes with them.
struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
    let host: String
    let port: UInt16

    var description: String { "\(host):\(port)" }

    /// Makes a non-blocking socket that listens at this address.
    func listen() throws -> Int32 {
        let descriptor = try Self.makeSocket()
        Sockets.set(SO_REUSEADDR, of: SOL_SOCKET, on: descriptor, to: 1)
        do {
            try Sockets.bind(descriptor, host: host, port: port)
            guard Glibc.listen(descriptor, 128) == 0 else { throw SystemError("listen on \(self)", code: errno) }
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Makes a socket that connects to this address. A failure shows when it is used.
    func connect() throws -> Int32 {
        let descriptor = try Self.makeSocket()
        Self.sendAtOnce(descriptor)
        do {
            try Sockets.connect(descriptor, host: host, port: port)
        } catch  where error.code != EINPROGRESS {
            close(descriptor)
            throw error
        } catch {}
        return descriptor
    }

    /// The next connection of a listening socket, or nil.
    static func accept(_ listener: Int32) -> Int32? {
        guard let descriptor = Sockets.accept(listener) else { return nil }
        prepare(descriptor)
        sendAtOnce(descriptor)
        return descriptor
    }

    private static func makeSocket() throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw SystemError("make a socket", code: errno) }
        prepare(descriptor)
        return descriptor
    }

    private static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    private static func sendAtOnce(_ descriptor: Int32) {
        Sockets.set(TCP_NODELAY, of: Int32(IPPROTO_TCP), on: descriptor, to: 1)
    }
}
