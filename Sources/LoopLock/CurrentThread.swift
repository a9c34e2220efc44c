internal import Glibc

/// The thread that asks.
public enum CurrentThread {
    /// Names the thread while it lives; a multiple of eight, and not 0.
    public static var identity: UInt { UInt(pthread_self()) & ~7 }

    /// Lets other threads run first.
    public static func yield() { sched_yield() }

    /// Starts threads that get no signals but those of their own faults: the others are the business of the program's own
    /// threads. A thread that has blocked the signal of a fault and makes it ends the process all the same, but no
    /// handler runs, and nobody is told where it was.
    ///
    /// - Parameter body: starts the threads, which inherit the mask of the one that starts them.
    /// - Returns: What `body` returns.
    public static func withSignalsBlocked<Result>(_ body: () -> Result) -> Result {
        var blocked = sigset_t()
        var previous = sigset_t()
        sigfillset(&blocked)
        for fault in faults { sigdelset(&blocked, fault) }
        pthread_sigmask(SIG_SETMASK, &blocked, &previous)
        defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
        return body()
    }

    /// What a thread brings upon itself.
    static let faults = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS]
}
