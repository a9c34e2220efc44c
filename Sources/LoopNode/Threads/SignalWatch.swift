internal import CLinux
internal import Glibc

/// Signals as something to read in a poll set, instead of handlers that interrupt whatever runs.
///
/// Create it first thing in main: the signals are blocked in the calling thread, and threads inherit that from the one
/// that starts them. A thread that was there before may still take a signal in the old way.
public final class SignalWatch: Sendable {
    /// What asks a program to end.
    public enum Signal: Int32, Sendable, CaseIterable {
        /// From a service manager, from `kill`.
        case terminate = 15
        /// Ctrl-C.
        case interrupt = 2
        /// The terminal is gone.
        case hangUp = 1
    }

    /// Readable while a signal has not been taken. Closed with this object; the signals stay blocked.
    public let descriptor: Int32

    /// - Throws: when there are no descriptors left.
    public init(_ signals: [Signal] = [.terminate, .interrupt]) throws(SystemError) {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal.rawValue) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        descriptor = signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
        if descriptor < 0 { throw SystemError("watch signals", code: errno, hint: "raise `ulimit -n`") }
    }

    deinit { close(descriptor) }

    /// The next signal that has come, or nil. Never waits.
    public func next() -> Signal? {
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        while true {
            let count = read(descriptor, &info, size)
            if count == size { return Signal(rawValue: Int32(bitPattern: info.ssi_signo)) }
            guard count < 0, errno == EINTR else { return nil }
        }
    }
}
