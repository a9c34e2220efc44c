// Unsafe: the system reads and writes signal masks that are local variables of this function.
#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The calling thread.
package enum CurrentThread {
    /// Starts threads that get only the signals of their own faults, because the program's own threads handle all others. If a
    /// thread causes a fault whose signal it blocks, the process ends all the same. But then no handler runs, and no report says
    /// where the fault was.
    ///
    /// - Parameter body: starts the threads, which inherit the signal mask of this thread.
    /// - Returns: what `body` returns.
    package static func withSignalsBlocked<Result>(_ body: () -> Result) -> Result {
        var blocked = sigset_t()
        var previous = sigset_t()
        unsafe sigfillset(&blocked)
        for fault in faults { unsafe sigdelset(&blocked, fault) }
        unsafe pthread_sigmask(SIG_SETMASK, &blocked, &previous)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &previous, nil) }
        return body()
    }

    /// The signals that a thread causes by its own faults.
    static let faults = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS]
}
