internal import Glibc

/// The properties of this machine.
enum SystemInfo {
    /// How many threads can run at once, at least 1.
    static var processorsCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}
