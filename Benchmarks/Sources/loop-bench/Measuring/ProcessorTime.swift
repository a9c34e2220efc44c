import Glibc

/// The processor time that this process has used. What one thread does alone is measured by it: other processes on the
/// machine then change the figure little.
enum ProcessorTime {
    static var seconds: Double { seconds(CLOCK_PROCESS_CPUTIME_ID) }

    /// Of the calling thread.
    static var ofThisThread: Double { seconds(CLOCK_THREAD_CPUTIME_ID) }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The processor time that another process has used.
    struct Clock {
        private let clock: clockid_t

        init(of process: Int32) throws {
            var clock = clockid_t()
            let error = clock_getcpuclockid(process, &clock)
            guard error == 0 else { throw BenchmarkError.role("process \(process) has no clock: errno \(error)") }
            self.clock = clock
        }

        var seconds: Double { ProcessorTime.seconds(clock) }

        /// Waits until the process takes next to no processor time for half a second: what other threads of it had begun is done.
        func rest() async throws {
            var calm = 0
            while calm < 5 {
                let before = seconds
                try await Task.sleep(for: .milliseconds(100))
                calm = seconds - before < 0.01 ? calm + 1 : 0
            }
        }
    }
}
