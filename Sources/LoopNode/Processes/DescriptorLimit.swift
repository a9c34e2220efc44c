internal import Glibc

/// How many files and sockets this process may have open. A reducer needs some for each peer, and where none is left
/// libzmq tries again and again to accept, at the cost of a core.
public enum DescriptorLimit {
    /// The limit now.
    public static var current: Int { read().soft }

    /// Raises the limit to what the system allows without being asked, at most to `most`.
    ///
    /// - Returns: the limit from now on.
    @discardableResult
    public static func raise(atMost most: Int = 65_536) -> Int {
        let (soft, hard) = read()
        guard soft < most, soft < hard else { return soft }
        var limit = rlimit(rlim_cur: rlim_t(min(most, hard)), rlim_max: rlim_t(hard))
        return setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? min(most, hard) : soft
    }

    private static func read() -> (soft: Int, hard: Int) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return (1024, 1024) }
        return (Int(clamping: limit.rlim_cur), Int(clamping: limit.rlim_max))
    }
}
