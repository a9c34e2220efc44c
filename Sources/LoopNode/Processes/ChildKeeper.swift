internal import Glibc
internal import Linux
internal import LoopLock

/// The life of one child, on one thread: start it, deliver its output, reap it, tell those who wait.
struct ChildKeeper {
    let plan: ChildProcess.Plan
    let keeping: Locked<ChildKeeping>

    /// Returns when the child has ended. `started` is called once, as soon as it runs or could not be started.
    func run(started: (Result<Int32, SystemError>) -> Void) {
        var pipes: [ChildPipe] = []
        let processID: Int32
        do throws(SystemError) {
            processID = try start(&pipes)
        } catch {
            started(.failure(error))
            return
        }
        started(.success(processID))
        deliver(pipes, until: processID)
        let status = reap(processID)
        // What it wrote before its end is in the pipes; what its children may still write is not waited for.
        for pipe in pipes { pipe.finish() }
        settle(status)
    }

    private func start(_ pipes: inout [ChildPipe]) throws(SystemError) -> Int32 {
        guard let path = ProcessEnvironment.find(plan.program, path: plan.environment?["PATH"]) else {
            let code = plan.program.contains("/") && FileSystem.exists(plan.program) ? EACCES : ENOENT
            throw SystemError("start \(plan.program)", code: code)
        }
        let null = try Descriptor(opening: "/dev/null", O_RDWR)
        var child = Child(
            path, [plan.program] + plan.arguments,
            environment: (plan.environment ?? ProcessEnvironment.current).map { "\($0.key)=\($0.value)" })
        child.directory = plan.directory
        child.input = null.number
        child.ownGroup = plan.ownGroup
        child.deathSignal = plan.deathSignal
        switch plan.output {
        case .inherited: return try start(child)
        case .discarded:
            child.output = null.number
            child.errors = null.number
            return try start(child)
        case .lines(let receive):
            // The ends that go to the child, closed here once it has them.
            let output = try Pipe()
            let errors = try Pipe()
            child.output = output.writeEnd.number
            child.errors = errors.writeEnd.number
            let processID = try start(child)
            pipes = [
                ChildPipe(.output, output.readEnd, receive: receive),
                ChildPipe(.errors, errors.readEnd, receive: receive),
            ]
            return processID
        }
    }

    private func start(_ child: Child) throws(SystemError) -> Int32 {
        do throws(SystemError) {
            return try child.start()
        } catch {
            let place = plan.directory.map { " in \($0)" } ?? ""
            throw SystemError("start \(plan.program)\(place)", code: error.code)
        }
    }

    /// Reads until the child has ended; its pipes may close earlier, or later where its children hold them.
    private func deliver(_ pipes: [ChildPipe], until processID: Int32) {
        let end = Child.end(of: processID)
        let number: Int32? =
            switch end {
            case .some(let end): end.number
            case nil: nil
            }
        while true {
            var items = [Poll.item(number, POLLIN)] + pipes.map { Poll.item($0.descriptor, POLLIN) }
            // Where the kernel has no pidfd, the end is looked for from time to time.
            let count = Poll.wait(&items, milliseconds: number == nil ? 50 : nil)
            if count == nil && errno != EINTR { return }
            for (pipe, item) in zip(pipes, items.dropFirst()) where count != nil && item.revents != 0 {
                pipe.readOnce()
            }
            if number == nil ? Child.hasEnded(processID) : count != nil && items[0].revents != 0 { return }
        }
    }

    private func reap(_ processID: Int32) -> ProcessExit {
        Child.waitForEnd(processID)
        // The zombie keeps the group's number from being used again: kill what is left of it before it is reaped.
        if plan.ownGroup { _ = kill(-processID, SIGKILL) }
        return keeping.withLock { keeping in
            let status = Child.reap(processID)
            keeping.isReaped = true
            return ProcessExit(waitStatus: status)
        }
    }

    private func settle(_ status: ProcessExit) {
        let waiters = keeping.withLock { keeping in
            keeping.settled = status
            let waiters = keeping.waiters
            keeping.waiters = []
            return waiters
        }
        for waiter in waiters { waiter.resume(returning: status) }
    }
}

/// One output of a child: the end of a pipe and the lines that come out of it.
private final class ChildPipe {
    let channel: ChildProcess.Channel
    let receive: @Sendable (ChildProcess.Channel, String) -> Void
    /// Nil once the child and all who inherited it have closed it.
    private var readEnd: Descriptor?
    private var splitter = LineSplitter()

    init(
        _ channel: ChildProcess.Channel, _ readEnd: consuming Descriptor,
        receive: @escaping @Sendable (ChildProcess.Channel, String) -> Void
    ) {
        self.channel = channel
        self.receive = receive
        self.readEnd = consume readEnd
    }

    var descriptor: Int32? {
        switch readEnd {
        case .some(let end): end.number
        case nil: nil
        }
    }

    /// Reads what is there, at most one buffer full. False where nothing was.
    @discardableResult
    func readOnce() -> Bool {
        guard let descriptor else { return false }
        var bytes = [UInt8](repeating: 0, count: 16 << 10)
        do throws(SystemError) {
            let count = try SystemCall.read(from: descriptor, into: &bytes)
            if count > 0 { splitter.feed(bytes.prefix(count)) { receive(channel, $0) } } else { readEnd = nil }
            return count > 0
        } catch {
            if error.code != EAGAIN { readEnd = nil }
            return false
        }
    }

    /// Reads what is left without waiting for more, and closes.
    func finish() {
        // A child's child that writes for ever does not hold the end: a pipe's worth was written before.
        var buffers = 0
        while buffers < 64, readOnce() { buffers += 1 }
        splitter.finish { receive(channel, $0) }
        readEnd = nil
    }
}
