// Unsafe: the system uses what it is passed only during the call.

internal import CLinux
internal import Glibc
internal import LoopNode

/// The signals that concern a program on a terminal, as something to read, while it runs. Afterwards they do what they
/// did before.
final class TerminalSignals {
    static let windowChanged: Int32 = SIGWINCH

    /// Readable while a signal has not been taken. It stays open for good: a handler may still be running.
    let descriptor: Int32
    private var before: [(Int32, sigaction)] = []

    init() throws(SystemError) {
        var readEnd: Int32 = -1
        var writeEnd: Int32 = -1
        let code = unsafe loop_pipe(&readEnd, &writeEnd)
        if code < 0 { throw SystemError("watch signals", code: -code, hint: "raise `ulimit -n`") }
        _ = fcntl(writeEnd, F_SETFL, O_NONBLOCK)
        descriptor = readEnd
        for signal in [SIGTERM, SIGINT, SIGHUP, Self.windowChanged] {
            var old = sigaction()
            unsafe sigaction(signal, nil, &old)
            before.append((signal, old))
            let code = loop_watch_signal(signal, writeEnd)
            if code < 0 { throw SystemError("watch signals", code: -code) }
        }
    }

    deinit {
        for (signal, old) in before {
            var old = old
            unsafe sigaction(signal, &old, nil)
        }
    }

    /// The next signal that has come, or nil. Never waits.
    func next() -> Int32? {
        var number: UInt8 = 0
        while true {
            if unsafe read(descriptor, &number, 1) == 1 { return Int32(number) }
            guard errno == EINTR else { return nil }
        }
    }
}
