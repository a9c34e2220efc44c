import Glibc
import LoopNode

/// TCP connections to one port on loopback. The kernel makes them; the process that listens need not run.
final class WaitingConnections {
    private let descriptors: [Int32]

    /// Dials all of them at once.
    init(_ count: Int, port: UInt16) {
        DescriptorLimit.raise()
        descriptors = (0..<count).map { _ in
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            let descriptor = socket(AF_INET, kind, 0)
            _ = withLoopback(port) { connect(descriptor, $0, $1) }
            return descriptor
        }
    }

    deinit { for descriptor in descriptors { close(descriptor) } }

    /// How many of them stand; those that do not are waited for, up to this many seconds each.
    func standing(within seconds: Int32) -> Int {
        var missing = false
        return descriptors.count { descriptor in
            var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            // One that is dropped is enough to know.
            let stands = poll(&wanted, 1, missing ? 0 : seconds * 1000) == 1 && wanted.revents == Int16(POLLOUT)
            if !stands { missing = true }
            return stands
        }
    }
}
