// Unsafe: a socket address of IPv4 may be passed as a general one; the system uses it only during the call.

import Glibc
import LoopNode

/// An IPv4 address and a port, and the few calls that a proxy makes with them.
struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
    let host: String
    let port: UInt16

    var description: String { "\(host):\(port)" }

    /// A socket that listens here; nothing on it waits.
    func listen() throws -> Int32 {
        let descriptor = try Self.makeSocket()
        var on: Int32 = 1
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        let code = unsafe withAddress { unsafe bind(descriptor, $0, $1) }
        guard code == 0, Glibc.listen(descriptor, 128) == 0 else {
            let error = SystemError("listen on \(self)", code: errno)
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// A socket that connects to here, or will have failed when it is used.
    func connect() throws -> Int32 {
        let descriptor = try Self.makeSocket()
        Self.sendAtOnce(descriptor)
        let code = unsafe withAddress { unsafe Glibc.connect(descriptor, $0, $1) }
        guard code == 0 || errno == EINPROGRESS else {
            let error = SystemError("connect to \(self)", code: errno)
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// The next connection of a listening socket, or nil.
    static func accept(_ listener: Int32) -> Int32? {
        let descriptor = Glibc.accept(listener, nil, nil)
        guard descriptor >= 0 else { return nil }
        prepare(descriptor)
        sendAtOnce(descriptor)
        return descriptor
    }

    /// The port that a listening socket was given, where it asked for any.
    static func port(of descriptor: Int32) -> UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        return UInt16(bigEndian: address.sin_port)
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
        var on: Int32 = 1
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    private func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        unsafe inet_pton(AF_INET, host, &address.sin_addr)
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
