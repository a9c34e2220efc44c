import Glibc

/// The processor time that this process has used. What one thread does alone is measured by it: other processes on the
/// machine then change the figure little.
enum ProcessorTime {
    static var seconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
