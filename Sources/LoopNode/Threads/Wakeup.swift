internal import CLinux
internal import Glibc

/// An eventfd: any thread signals, one thread watches the descriptor in its poll set. Signals add up to one.
public final class Wakeup: Sendable {
    /// Readable while a signal has not been drained. Closed with this object.
    public let descriptor: Int32

    /// - Throws: when there are no descriptors left.
    public init() throws(SystemError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        if descriptor < 0 { throw SystemError("create an eventfd", code: errno, hint: "raise `ulimit -n`") }
    }

    deinit { close(descriptor) }

    /// Makes the descriptor readable. Never waits.
    public func signal() {
        // EAGAIN: the counter is full, so it is readable already.
        while eventfd_write(descriptor, 1) < 0 && errno == EINTR {}
    }

    /// Takes all signals so far; the descriptor is unreadable until the next. Never waits.
    public func drain() {
        var count: eventfd_t = 0
        while eventfd_read(descriptor, &count) < 0 && errno == EINTR {}
    }
}
