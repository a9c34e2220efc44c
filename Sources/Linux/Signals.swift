// Unsafe: the system uses what it is passed only during the call, and the earlier action of a signal is kept as the system gave it.

internal import CLinux
internal import Glibc

/// Signals of this process and its threads.
package enum Signals {
    /// Blocks all signals on the calling thread and on the threads that it starts.
    package static func blockAll() {
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
    }

    /// Starts threads that get only the signals of their own faults, because the program's own threads handle all others. If a
    /// thread causes a fault whose signal it blocks, the process ends all the same. But then no handler runs, and no report says
    /// where the fault was.
    /// - Parameter body: starts the threads, which inherit the signal mask of this thread.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws.
    package static func withAllButFaultsBlocked<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var blocked = sigset_t()
        var previous = sigset_t()
        unsafe sigfillset(&blocked)
        for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS] { unsafe sigdelset(&blocked, fault) }
        unsafe pthread_sigmask(SIG_SETMASK, &blocked, &previous)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &previous, nil) }
        return try body()
    }

    /// Makes a write to a pipe without a reader fail, instead of ending this process.
    package static func ignoreBrokenPipes() { _ = signal(SIGPIPE, SIG_IGN) }

    /// The system's name of a signal.
    package static func name(_ signal: Int32) -> String? { unsafe strsignal(signal).map { unsafe String(cString: $0) } }
}

/// Signals of the whole process to read from a pipe, whichever thread receives them. A process has one at a time.
///
/// The pipe that handlers write to stays open for good, because a handler may run at any moment.
package final class SignalPipe: Sendable {
    /// Readable while a signal is pending.
    package let descriptor: Int32
    /// The earlier actions of the signals; empty if they are not restored.
    private let before: [(signal: Int32, action: sigaction)]

    /// - Parameter restores: whether the signals get their earlier actions back when this object is released.
    /// - Throws: ``SystemError`` if no descriptors are left.
    package init(_ signals: [Int32], restores: Bool) throws(SystemError) {
        var (readEnd, writeEnd): (Int32, Int32) = (0, 0)
        let code = unsafe loop_pipe(&readEnd, &writeEnd)
        guard code == 0 else { throw SystemError("watch signals", code: -code, hint: "raise `ulimit -n`") }
        descriptor = readEnd
        _ = fcntl(writeEnd, F_SETFL, O_NONBLOCK)
        var before: [(signal: Int32, action: sigaction)] = []
        for signal in signals {
            var old = sigaction()
            unsafe sigaction(signal, nil, &old)
            if restores { before.append((signal, old)) }
            let code = loop_watch_signal(signal, writeEnd)
            guard code == 0 else { throw SystemError("watch signals", code: -code) }
        }
        self.before = before
    }

    deinit {
        for (signal, action) in before {
            var action = action
            unsafe sigaction(signal, &action, nil)
        }
    }

    /// The next pending signal, or nil. Never waits.
    package func next() -> Int32? {
        var byte: [UInt8] = [0]
        return (try? SystemCall.read(from: descriptor, into: &byte)) == 1 ? Int32(byte[0]) : nil
    }
}
