// Unsafe: the system uses what it is passed only during the call, and its texts are copied at once.

internal import CLinux
internal import Glibc

/// Information from the system about this process and its machine.
package enum System {
    /// The bytes of the variables of this process, each as `name=value`.
    package static var environment: [[UInt8]] {
        var entries: [[UInt8]] = []
        guard var entry = unsafe loop_environment() else { return entries }
        while let text = unsafe entry.pointee {
            entries.append(unsafe bytes(of: text))
            unsafe entry += 1
        }
        return entries
    }

    /// The bytes of the words of this process's command line, with the program's name first.
    package static var commandLine: [[UInt8]] {
        (0..<Int(CommandLine.argc)).map { index in
            guard let word = unsafe CommandLine.unsafeArgv[index] else { return [] }
            return unsafe bytes(of: word)
        }
    }

    private static func bytes(of text: UnsafePointer<CChar>) -> [UInt8] {
        unsafe Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
    }

    /// The number of this process.
    package static var processID: Int32 { getpid() }

    /// The name of this machine, or an empty text if it has none.
    package static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        unsafe gethostname(&name, name.count - 1)
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The number of the user of this process (the effective user ID).
    package static var userID: UInt32 { geteuid() }

    /// The name of the user of this process, or nil if the number has no name.
    package static var userName: String? {
        unsafe getpwuid(geteuid()).map { unsafe String(cString: $0.pointee.pw_name) }
    }

    /// Random bytes of the kernel.
    package static func randomBytes(_ count: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, filled in
            while filled < count {
                let result = unsafe getrandom(buffer.baseAddress.map { unsafe $0 + filled }, count - filled, 0)
                if result > 0 {
                    filled += result
                } else {
                    precondition(errno == EINTR, "the kernel gives no random bytes: errno \(errno)")
                }
            }
        }
    }

    /// The memory of this machine, in bytes.
    package static var memoryBytes: Int {
        max(0, sysconf(Int32(_SC_PHYS_PAGES))) * max(0, sysconf(Int32(_SC_PAGESIZE)))
    }

    /// The largest number of open descriptors of this process, and how far it may be raised, or nil if the system does not say.
    package static var descriptorLimit: (soft: Int, hard: Int)? {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return (Int(clamping: limit.rlim_cur), Int(clamping: limit.rlim_max))
    }

    /// Changes the largest number of open descriptors of this process.
    /// - Returns: whether the system has done so.
    package static func limitDescriptors(soft: Int, hard: Int) -> Bool {
        var limit = rlimit(rlim_cur: rlim_t(soft), rlim_max: rlim_t(hard))
        return unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
    }

    /// The steady clock since the start of the machine, including the time of a suspend: seconds and nanoseconds.
    package static var bootTime: (seconds: Int, nanoseconds: Int) { time(of: CLOCK_BOOTTIME) }

    /// Returns free memory to the system. The allocator keeps free memory that lies between pieces in use.
    package static func giveBackFreeMemory() { _ = malloc_trim(0) }

    /// Civil time since 1970: seconds and nanoseconds.
    package static var wallTime: (seconds: Int, nanoseconds: Int) { time(of: CLOCK_REALTIME) }

    private static func time(of clock: clockid_t) -> (seconds: Int, nanoseconds: Int) {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return (time.tv_sec, time.tv_nsec)
    }

    /// Moves the calling thread into a network namespace. Threads and processes that it starts then inherit it.
    /// - Throws: ``SystemError``.
    package static func enterNetwork(_ namespace: borrowing Descriptor) throws(SystemError) {
        guard loop_enter_network(namespace.number) == 0 else { throw SystemError("enter the network namespace") }
    }
}
