import Glibc
import Testing
import ZMQ

@Suite struct `ZMQ poll set` {
    let context: ZMQContext

    init() throws { context = try ZMQContext() }

    @Test func `sockets and descriptors are waited for together`() throws {
        var pull = try Socket(.pull, in: context)
        var push = try Socket(.push, in: context)
        try push.connect(try pull.bind("inproc://set"))
        var pipe: [Int32] = [0, 0]
        try #require(Glibc.pipe(&pipe) == 0)
        defer { for end in pipe { close(end) } }

        var set = PollSet()
        let messages = set.add(pull)
        let room = set.add(push, for: .writable)
        let bytes = set.add(descriptor: pipe[0])
        #expect(try set.wait(milliseconds: patienceMilliseconds) == 1)
        #expect(set.isWritable(room) && !set.isReadable(messages) && !set.isReadable(bytes))

        set.watch(room, for: [])
        #expect(try set.wait(milliseconds: 0) == 0)

        try deliver("x", by: &push)
        write(pipe[1], "x", 1)
        while try set.wait(milliseconds: patienceMilliseconds) == 1 {}
        #expect(set.isReadable(messages) && set.isReadable(bytes))

        set.remove(messages)
        #expect(try set.wait(milliseconds: patienceMilliseconds) == 1)
        #expect(set.readiness(of: bytes) == .readable)
    }

    @Test func `the place of a member that is gone is used again`() throws {
        let pull = try Socket(.pull, in: context)
        var set = PollSet()
        let first = set.add(pull)
        for _ in 0..<3 {
            let gone = set.add(pull)
            #expect(gone != first)
            set.remove(gone)
        }
        let second = set.add(pull)
        let third = set.add(pull)
        #expect(Set([first, second, third]).count == 3)
        set.remove(second)
        #expect(set.add(pull) == second)
    }

    @Test func `a message is shown until it is received, whatever the socket did meanwhile`() throws {
        var one = try Socket(.pair, in: context)
        var other = try Socket(.pair, in: context)
        try other.connect(try one.bind("inproc://shown"))
        var set = PollSet()
        let item = set.add(one)
        #expect(try set.wait(milliseconds: 0) == 0)
        try deliver("first", by: &other)
        try deliver("second", by: &other)

        // A send makes libzmq take what the descriptor shows.
        for _ in 0..<3 {
            try deliver("back", by: &one)
            #expect(try set.wait(milliseconds: patienceMilliseconds) == 1)
            #expect(set.readiness(of: item) == .readable)
        }
        var message = Message()
        #expect(try one.receive(into: &message))
        #expect(try set.wait(milliseconds: patienceMilliseconds) == 1, "the second is still there")
        #expect(try one.receive(into: &message))
        #expect(message.copy().text == "second")
        #expect(try set.wait(milliseconds: 0) == 0)
        #expect(try !one.receive(into: &message))
        try deliver("third", by: &other)
        #expect(try set.wait(milliseconds: patienceMilliseconds) == 1)
    }

    @Test func `a time limit ends the wait and not before`() throws {
        var pull = try Socket(.pull, in: context)
        try pull.bind("inproc://silent")
        var set = PollSet()
        set.add(pull)
        let clock = ContinuousClock()
        let start = clock.now
        #expect(try set.wait(milliseconds: 30) == 0)
        #expect(clock.now - start >= .milliseconds(29))
    }

    @Test func `a socket that was closed is no longer watched`() throws {
        var set = PollSet()
        func watchOne() throws {
            var pull = try Socket(.pull, in: context)
            try pull.bind("inproc://closed")
            set.add(pull)
        }
        try watchOne()
        #expect(try set.wait(milliseconds: 0) == 0)
        var again = try Socket(.pull, in: context)
        try again.bind("inproc://closed")
    }

    @Test func `a signal does not shorten a wait`() async throws {
        // A handler without SA_RESTART, so that the wait is interrupted and not restarted by the system.
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in }
        sigaction(SIGUSR1, &action, nil)
        let context = self.context
        let (threads, announce) = AsyncStream.makeStream(of: pthread_t.self)
        async let waited: Duration? = withCheckedContinuation { continuation in
            startThread {
                let clock = ContinuousClock()
                guard var pull = try? Socket(.pull, in: context), (try? pull.bind("inproc://signal")) != nil else {
                    return continuation.resume(returning: nil)
                }
                var set = PollSet()
                set.add(pull)
                announce.yield(pthread_self())
                let start = clock.now
                let ready = try? set.wait(milliseconds: 200)
                let duration = clock.now - start
                announce.finish()
                // The thread must be there as long as it is sent signals.
                _ = try? set.wait(milliseconds: nil)
                continuation.resume(returning: ready == 0 ? duration : nil)
            }
        }
        var announced = threads.makeAsyncIterator()
        if let thread = await announced.next() {
            // Repeatedly, since nothing reports that the thread is in its wait.
            for _ in 0..<50 {
                pthread_kill(thread, SIGUSR1)
                usleep(1000)
            }
            _ = await announced.next()
            var push = try Socket(.push, in: context)
            try push.connect("inproc://signal")
            try deliver("over", by: &push)
        }
        let duration = try #require(await waited)
        #expect(duration >= .milliseconds(199) && duration < .seconds(5))
    }
}

/// Runs the body on a thread of its own, so that it may wait.
func startThread(_ body: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Box(body)).toOpaque()
    pthread_create(
        &thread, nil,
        { raw in
            Unmanaged<Box>.fromOpaque(raw!).takeRetainedValue().body()
            return nil
        }, box)
    pthread_detach(thread)
}
