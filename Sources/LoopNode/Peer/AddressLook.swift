internal import CLinux
internal import Glibc

/// Finds out why nobody answers at an address, by a connection of its own that says nothing.
package enum AddressLook {
    /// How long a connection may take.
    private static let connectLimit: Int32 = 1000

    /// For people, to follow a colon. Blocks as `obstacle` does.
    package static func text(at reducer: ReducerAddress) -> String { obstacle(at: reducer).text }

    /// Blocks for up to a second, and for as long as the system looks for a host's name.
    static func obstacle(at reducer: ReducerAddress) -> ReducerWait.Obstacle {
        switch reducer.endpoint {
        case .ipc(let path): loop_unix_is_listening(path) == 1 ? .foreign : .nothingListens
        case .inproc: .nothingListens
        case .tcp(let host, let port): tcp(host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host, port)
        }
    }

    private static func tcp(_ host: String, _ port: UInt16) -> ReducerWait.Obstacle {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        // The system's list, which is ours to free; `found` and all that it leads to live until then.
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, "\(port)", &hints, &found)
        guard code == 0, let first = found else { return .noSuchHost(String(cString: gai_strerror(code))) }
        defer { freeaddrinfo(found) }
        var obstacle = ReducerWait.Obstacle.unknown
        var next: UnsafeMutablePointer<addrinfo>? = first
        while let address = next {
            obstacle = connecting(to: address.pointee)
            if obstacle == .foreign { return obstacle }
            next = address.pointee.ai_next
        }
        return obstacle
    }

    private static func connecting(to address: addrinfo) -> ReducerWait.Obstacle {
        let descriptor = socket(address.ai_family, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return .unknown }
        defer { close(descriptor) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var code = connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno
        if code == EINPROGRESS {
            var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard poll(&polled, 1, connectLimit) > 0 else { return .unreachable("no answer from the machine") }
            var size = socklen_t(MemoryLayout<Int32>.size)
            getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size)
        }
        switch code {
        case 0: return .foreign
        case ECONNREFUSED: return .nothingListens
        default: return .unreachable(String(cString: strerror(code)))
        }
    }
}
