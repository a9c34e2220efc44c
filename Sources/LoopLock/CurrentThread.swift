internal import Glibc

/// The thread that asks.
public enum CurrentThread {
    /// Names the thread while it lives; a multiple of eight, and not 0.
    public static var identity: UInt { UInt(pthread_self()) & ~7 }

    /// Lets other threads run first.
    public static func yield() { sched_yield() }
}
