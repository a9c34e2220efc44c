import Glibc

/// How much memory this process may still ask for; for exit tests, as there is no way back.
enum AddressSpace {
    struct Failure: Error {}

    /// Whatever is asked for beyond it ends the process.
    static func limit(toFurther bytes: UInt) throws {
        guard let file = fopen("/proc/self/statm", "r") else { throw Failure() }
        defer { fclose(file) }
        var pages: CLong = 0
        guard withUnsafeMutablePointer(to: &pages, { withVaList([$0]) { vfscanf(file, "%ld", $0) } }) == 1 else {
            throw Failure()
        }
        var limit = rlimit()
        limit.rlim_cur = UInt(pages) * UInt(sysconf(Int32(_SC_PAGESIZE))) + bytes
        limit.rlim_max = limit.rlim_cur
        guard setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0 else { throw Failure() }
    }
}
