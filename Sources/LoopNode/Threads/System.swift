internal import Glibc
package import Linux
package import LoopCore

/// The clocks of this machine, for shells. Machines get readings as arguments.
package enum SystemClock {
    /// The steady clock since the start of the machine. It also counts suspended time, so that a lease does not outlive
    /// a laptop's sleep.
    package static var monotonic: MonotonicTime {
        let time = System.bootTime
        return MonotonicTime(nanoseconds: UInt64(time.seconds) * 1_000_000_000 + UInt64(time.nanoseconds))
    }

    /// When this process first read this property, which a reducer does at its start. Its uptime counts from then.
    static let processBegan = monotonic

    /// Civil time, which may jump.
    package static var wall: WallTime {
        let time = System.wallTime
        return WallTime(milliseconds: Int64(time.seconds) * 1000 + Int64(time.nanoseconds) / 1_000_000)
    }

    /// Both clocks, read together.
    package static var now: Moment { Moment(monotonic: monotonic, wall: wall) }

    /// The time from one moment to a deadline in whole milliseconds, rounded up, for a poll. It is 0 if the deadline has passed.
    package static func milliseconds(from now: MonotonicTime, until deadline: MonotonicTime) -> Int {
        guard deadline > now else { return 0 }
        let nanoseconds = deadline.nanoseconds - now.nanoseconds
        return Int(min(nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1), UInt64(Int32.max)))
    }
}

/// Random numbers from the kernel, for identities, histories and seeds. Machines get theirs as arguments.
package enum SystemRandom {
    /// Returns a number of random bytes.
    package static func bytes(_ count: Int) -> [UInt8] { System.randomBytes(count) }

    /// Returns a random number.
    package static func uint64() -> UInt64 {
        bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// The properties of this machine.
enum SystemInfo {
    /// How many threads can run at once, at least 1.
    static var processorsCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}

/// An error of a system call: the operation, the code and the object.
package typealias SystemError = Linux.SystemError
