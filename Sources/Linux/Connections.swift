// Unsafe: the system reads and fills structures that live during the call, and an address is read as its family says.

internal import CLinux
internal import Glibc

/// Reads and ends connections, and pauses their listeners, by descriptors that another part of the process owns, such as a
/// library.
package enum Connections {
    /// The address of this side of a connection.
    package enum LocalAddress: Hashable, Sendable {
        /// A TCP port, at any address of the machine.
        case port(UInt16)
        /// The path of a Unix socket.
        case path(String)
    }

    /// The system's counts of a TCP connection.
    package struct Traffic: Hashable, Sendable {
        /// Bytes that have arrived.
        package let receivedBytes: UInt64
        /// Bytes that were sent and that the peer has acknowledged.
        package let acknowledgedBytes: UInt64
        /// Bytes that have arrived and were not read yet.
        package let unreadBytes: UInt64

        /// Creates the counts, for tests of code that uses them.
        package init(receivedBytes: UInt64, acknowledgedBytes: UInt64, unreadBytes: UInt64) {
            self.receivedBytes = receivedBytes
            self.acknowledgedBytes = acknowledgedBytes
            self.unreadBytes = unreadBytes
        }
    }

    /// Shuts a connection down in both directions. Its owner then sees the end, and closes it.
    ///
    /// - Returns: whether it was a connection of these addresses. The number may belong to another file by now.
    @discardableResult
    package static func end(_ descriptor: Int32, at addresses: Set<LocalAddress>) -> Bool {
        withSocket(descriptor, at: addresses) { socket, _ in
            guard !listens(socket), shutdown(socket, Int32(SHUT_RDWR)) == 0 else { return false }
            discardInput(of: socket)
            return true
        }
    }

    /// Makes a TCP listener accept no new connections, or accept them again.
    ///
    /// While it accepts none, the system drops the first packet of each new connection. A peer repeats that packet after a second,
    /// and then at growing intervals (RFC 6298), so it connects later. Existing connections continue.
    /// - Returns: whether it was a listener of these addresses, and was changed. The number may belong to another file by now.
    @discardableResult
    package static func setTakesConnections(
        _ takes: Bool, _ listener: Int32, at addresses: Set<LocalAddress>
    ) -> Bool {
        withSocket(listener, at: addresses) { socket, address in
            guard case .port = address, listens(socket) else { return false }
            return loop_set_takes_connections(socket, takes ? 1 : 0) == 0
        }
    }

    /// Calls `body` with a duplicate of a socket, which stays this socket whatever its owner does, and its address.
    /// - Returns: what `body` returns, or false if the socket has none of the addresses.
    private static func withSocket(
        _ descriptor: Int32, at addresses: Set<LocalAddress>, _ body: (Int32, LocalAddress) -> Bool
    ) -> Bool {
        let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard duplicate >= 0 else { return false }
        defer { close(duplicate) }
        guard let address = localAddress(of: duplicate), addresses.contains(address) else { return false }
        return body(duplicate, address)
    }

    /// Discards the bytes that have arrived, because otherwise the owner of the connection would still read all of them.
    private static func discardInput(of descriptor: Int32) {
        // TCP does not copy truncated bytes (tcp(7)), and other sockets have at most one such piece.
        for _ in 0..<64 {
            let count = recv(descriptor, nil, 1 << 20, Int32(MSG_TRUNC) | Int32(MSG_DONTWAIT))
            if count <= 0 { return }
        }
    }

    /// The connections of this process at some addresses: the owner of the address, by descriptor.
    package static func all<Owner>(at addresses: [Owner: Set<LocalAddress>]) -> [Int32: Owner] {
        var owners: [LocalAddress: Owner] = [:]
        for (owner, places) in addresses { for place in places { owners[place] = owner } }
        var found: [Int32: Owner] = [:]
        for name in (try? FileSystem.names(in: "/proc/self/fd")) ?? [] {
            guard let descriptor = Int32(name), let owner = localAddress(of: descriptor).flatMap({ owners[$0] }),
                !listens(descriptor)
            else { continue }
            found[descriptor] = owner
        }
        return found
    }

    /// The local address of a socket, or nil if it is neither a TCP socket nor one with a path.
    package static func localAddress(of descriptor: Int32) -> LocalAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        guard code == 0 else { return nil }
        let family = Int32(storage.ss_family)
        let bytes = unsafe withUnsafeBytes(of: &storage) { unsafe [UInt8]($0.prefix(Int(length))) }
        // After the family, in 2 bytes: a port of IPv4 or IPv6 with the highest byte first, or a path that ends with a NUL.
        switch family {
        case AF_INET, AF_INET6: return bytes.count < 4 ? nil : .port(UInt16(bytes[2]) << 8 | UInt16(bytes[3]))
        case AF_UNIX:
            let path = bytes.dropFirst(2).prefix { $0 != 0 }
            return path.isEmpty ? nil : .path(String(decoding: path, as: UTF8.self))
        default: return nil
        }
    }

    /// The counts of a connection, or nil if it is not a TCP connection.
    package static func traffic(of descriptor: Int32) -> Traffic? {
        // `struct tcp_info` of linux/tcp.h, of which glibc's header has only a part.
        var bytes = [UInt8](repeating: 0, count: 136)
        var length = socklen_t(bytes.count)
        let code = unsafe getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &bytes, &length)
        guard code == 0, length >= 136 else { return nil }
        func number(at offset: Int) -> UInt64 {
            bytes[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        var unread: Int32 = 0
        guard unsafe ioctl(descriptor, UInt(FIONREAD), &unread) == 0 else { return nil }
        return Traffic(
            receivedBytes: number(at: 128), acknowledgedBytes: number(at: 120), unreadBytes: UInt64(max(0, unread)))
    }

    /// Whether a socket listens, or true if the system does not say.
    static func listens(_ descriptor: Int32) -> Bool {
        var value: Int32 = 1
        var length = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &value, &length) != 0 || value != 0
    }
}
