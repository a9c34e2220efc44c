internal import Glibc

/// What this machine has.
enum SystemInfo {
    /// How many threads can run at the same time; at least 1.
    static var processorsCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// Lets another thread run, where one is ready.
    static func yield() { sched_yield() }
}
