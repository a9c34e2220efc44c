import Glibc
import Linux
import LoopCore
import LoopNode
import Testing

@Suite struct `Threads of a node` {
    @Test func `have their name and end before join returns`() async throws {
        let name = try await NodeThread.run("loop-reducer-with-a-long-name") {
            let file = open("/proc/thread-self/comm", O_RDONLY | O_CLOEXEC)
            defer { close(file) }
            var buffer = [UInt8](repeating: 0, count: 64)
            let count = read(file, &buffer, buffer.count)
            return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        }
        #expect(name == "loop-reducer-wi\n")
        let mailbox = try Mailbox<Int>()
        let thread = try NodeThread("short") { mailbox.post(1) }
        async let first: Void = thread.join()
        async let second: Void = thread.join()
        _ = await (first, second)
        await thread.join()
        var taken: [Int] = []
        mailbox.takeAll(into: &taken)
        #expect(taken == [1])
    }

    @Test func `hand on what their body throws`() async {
        await #expect(throws: SystemError("think", code: ENOMEM)) {
            try await NodeThread.run("thrower") { throw SystemError("think", code: ENOMEM) }
        }
        #expect(SystemError("think", code: ENOMEM).description == "could not think: Cannot allocate memory")
    }

    @Test func `have a stack as large as asked for`() async throws {
        @Sendable func depth(_ levels: Int) -> Int {
            withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 16) { buffer in
                buffer[0] = UInt8(truncatingIfNeeded: levels)
                return levels == 0 ? Int(buffer[0]) : depth(levels - 1) + 1
            }
        }
        #expect(try await NodeThread.run("deep") { depth(1500) } == 1500)
    }
}

@Suite struct `Clocks and chance of a node` {
    @Test func `the steady clock does not go back and counts suspended time`() {
        let first = SystemClock.monotonic
        let second = SystemClock.monotonic
        #expect(second >= first)
        var boot = timespec()
        clock_gettime(CLOCK_BOOTTIME, &boot)
        #expect(boot.tv_sec - Int(second.nanoseconds / 1_000_000_000) <= 1)
        #expect(abs(time(nil) - Int(SystemClock.wall.milliseconds / 1000)) <= 1)
    }

    @Test func `a deadline is rounded up to milliseconds and never negative`() {
        let now = MonotonicTime(nanoseconds: 10_000_000)
        #expect(SystemClock.milliseconds(from: now, until: now) == 0)
        #expect(SystemClock.milliseconds(from: now, until: .zero) == 0)
        #expect(SystemClock.milliseconds(from: now, until: now + .nanoseconds(1)) == 1)
        #expect(SystemClock.milliseconds(from: now, until: now + .milliseconds(3)) == 3)
        #expect(SystemClock.milliseconds(from: now, until: MonotonicTime(nanoseconds: .max)) == Int(Int32.max))
    }

    @Test func `random bytes are as many as asked for and not the same`() {
        #expect(SystemRandom.bytes(0) == [])
        #expect(SystemRandom.bytes(1000).count == 1000)
        #expect(SystemRandom.bytes(16) != SystemRandom.bytes(16))
        #expect(SystemRandom.uint64() != SystemRandom.uint64())
    }
}

@Suite struct `Signals of a node` {
    @Test func `are read from a descriptor and do not end the process, whichever thread takes them`() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let watch = try SignalPipe.ofProcess()
            for signal in [SIGTERM, SIGINT, SIGHUP] {
                kill(getpid(), signal)
                var item = pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)
                while poll(&item, 1, 10_000) < 0 {}
                guard watch.next() == signal else { exit(1) }
            }
            exit(7)
        }
    }
}
