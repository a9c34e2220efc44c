// Unsafe: the system reads and writes masks of signals that are this function's own variables.
#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The thread that asks.
public enum CurrentThread {
    /// Names the thread while it lives; a multiple of eight, and not 0.
    public static var identity: UInt {
        #if canImport(Darwin)
            unsafe UInt(bitPattern: pthread_self()) & ~7
        #else
            UInt(pthread_self()) & ~7
        #endif
    }

    /// Lets other threads run first.
    public static func yield() { sched_yield() }

    /// Starts threads that get no signals but those of their own faults: the others are the business of the program's own
    /// threads. A thread that has blocked the signal of a fault and makes it ends the process all the same, but no
    /// handler runs, and no report says where it was.
    ///
    /// - Parameter body: starts the threads, which inherit the mask of the one that starts them.
    /// - Returns: What `body` returns.
    public static func withSignalsBlocked<Result>(_ body: () -> Result) -> Result {
        var blocked = sigset_t()
        var previous = sigset_t()
        unsafe sigfillset(&blocked)
        for fault in faults { unsafe sigdelset(&blocked, fault) }
        unsafe pthread_sigmask(SIG_SETMASK, &blocked, &previous)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &previous, nil) }
        return body()
    }

    /// What a thread brings upon itself.
    static let faults = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS]
}
