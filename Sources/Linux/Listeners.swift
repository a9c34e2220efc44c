internal import CLinux
internal import Glibc

/// TCP listeners by descriptors that another part of the process owns, such as a library.
public enum Listeners {
    /// Makes a listener accept no new connections, or accept them again.
    ///
    /// While it accepts none, the system drops the first packet of each new connection. A peer repeats that packet after a second,
    /// and then at growing intervals (RFC 6298), so it connects later. Existing connections continue.
    /// - Parameters:
    ///   - descriptor: the listener. The number may belong to another file by now, so nothing is done unless it listens at one of
    ///     the addresses.
    ///   - addresses: the addresses of the caller's listeners.
    /// - Returns: whether the listener was changed.
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
