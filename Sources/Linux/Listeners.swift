internal import CLinux
internal import Glibc

/// Listening sockets of TCP by descriptor that another part of the process owns, such as a library.
public enum Listeners {
    /// Lets a listener take no new connections, or take them again.
    ///
    /// While it takes none, the system drops the first packet of each new connection. A peer repeats that packet after a second, and
    /// then at growing intervals (RFC 6298), so it connects later. Connections that exist go on.
    /// - Parameters:
    ///   - descriptor: the listener. The number may have become another file's since it was heard of, so nothing is done unless it
    ///     listens at one of the addresses.
    ///   - addresses: where listeners of the caller are.
    /// - Returns: whether it was done.
    @discardableResult
    public static func setTakesConnections(
        _ takes: Bool, _ descriptor: Int32, at addresses: Set<Connections.LocalAddress>
    ) -> Bool {
        let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard duplicate >= 0 else { return false }
        defer { close(duplicate) }
        guard case .port? = Connections.localAddress(of: duplicate).flatMap({ addresses.contains($0) ? $0 : nil }),
            Connections.listens(duplicate)
        else { return false }
        return loop_set_takes_connections(duplicate, takes ? 1 : 0) == 0
    }
}
