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
    /// Signals come as bytes of their number, not as the kernel's records.
    private let isPipe: Bool

    /// - Throws: when there are no descriptors left.
    public init(_ signals: [Signal] = [.terminate, .interrupt]) throws(SystemError) {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal.rawValue) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        descriptor = signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
        isPipe = false
        if descriptor < 0 { throw SystemError("watch signals", code: errno, hint: "raise `ulimit -n`") }
    }

    /// Watches for the whole process, by handlers, whichever thread takes a signal: for a program with an asynchronous
    /// `main`, whose main thread waits in libdispatch and lets every signal through. Once in a process.
    ///
    /// - Throws: when there are no descriptors left.
    public static func ofProcess(_ signals: [Signal] = [.terminate, .interrupt]) throws(SystemError) -> SignalWatch {
        try SignalWatch(process: signals)
    }

    /// From now on a write to a pipe that nobody reads any more fails, and does not end this process: for programs that go on
    /// without their readers. The programs that they start have the signal as usual.
    public static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

    private init(process signals: [Signal]) throws(SystemError) {
        var readEnd: Int32 = -1
        var writeEnd: Int32 = -1
        let code = loop_pipe(&readEnd, &writeEnd)
        if code < 0 { throw SystemError("watch signals", code: -code, hint: "raise `ulimit -n`") }
        descriptor = readEnd
        isPipe = true
        // The write end stays open for as long as a handler may run: for good.
        _ = fcntl(writeEnd, F_SETFL, O_NONBLOCK)
        for signal in signals {
            let code = loop_watch_signal(signal.rawValue, writeEnd)
            if code < 0 { throw SystemError("watch signals", code: -code) }
        }
    }

    deinit { close(descriptor) }

    /// The next signal that has come, or nil. Never waits.
    public func next() -> Signal? { isPipe ? nextByte() : nextRecord() }

    private func nextByte() -> Signal? {
        var number: UInt8 = 0
        while true {
            let count = read(descriptor, &number, 1)
            if count == 1 { return Signal(rawValue: Int32(number)) }
            guard count < 0, errno == EINTR else { return nil }
        }
    }

    private func nextRecord() -> Signal? {
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        while true {
            let count = read(descriptor, &info, size)
            if count == size { return Signal(rawValue: Int32(bitPattern: info.ssi_signo)) }
            guard count < 0, errno == EINTR else { return nil }
        }
    }
}
