import Glibc

/// The clock that all processes of the machine share and that is never set.
enum MonotonicTime {
    static var seconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
