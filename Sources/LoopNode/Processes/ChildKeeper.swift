internal import CLinux
internal import Glibc
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
        deliver(&pipes, until: processID)
        let status = reap(processID)
        // What it wrote before its end is in the pipes; what its children may still write is not waited for.
        for index in pipes.indices { pipes[index].finish() }
        settle(status)
    }

    private func start(_ pipes: inout [ChildPipe]) throws(SystemError) -> Int32 {
        guard let path = ProcessEnvironment.find(plan.program, path: plan.environment?["PATH"]) else {
            let code = plan.program.contains("/") && access(plan.program, F_OK) == 0 ? EACCES : ENOENT
            throw SystemError("start \(plan.program)", code: code)
        }
        // The ends that go to the child, closed here once it has them.
        var ends: [Int32] = []
        defer { for end in ends { close(end) } }
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard null >= 0 else { throw SystemError("open /dev/null", code: errno) }
        ends.append(null)
        var outputs: (Int32, Int32) = (-1, -1)
        switch plan.output {
        case .inherited: break
        case .discarded: outputs = (null, null)
        case .lines(let receive):
            for channel in [ChildProcess.Channel.output, .errors] {
                let pipe = try ChildPipe(channel, receive: receive)
                pipes.append(pipe)
                ends.append(pipe.writeEnd)
            }
            outputs = (pipes[0].writeEnd, pipes[1].writeEnd)
        }
        let environment = plan.environment ?? ProcessEnvironment.current
        let result = withCStrings([plan.program] + plan.arguments) { arguments in
            withCStrings(environment.map { "\($0.key)=\($0.value)" }) { variables in
                path.withCString { path in
                    withOptionalCString(plan.directory) { directory in
                        var child = loop_child(
                            path: path, arguments: arguments, environment: variables, directory: directory,
                            input: null, output: outputs.0, errors: outputs.1, own_group: plan.ownGroup ? 1 : 0,
                            death_signal: plan.deathSignal)
                        return loop_child_start(&child)
                    }
                }
            }
        }
        if result < 0 {
            for pipe in pipes { close(pipe.readEnd) }
            pipes = []
            let place = plan.directory.map { " in \($0)" } ?? ""
            throw SystemError("start \(plan.program)\(place)", code: -result)
        }
        return result
    }

    /// Reads until the child has ended; its pipes may close earlier, or later where its children hold them.
    private func deliver(_ pipes: inout [ChildPipe], until processID: Int32) {
        let end = loop_pidfd_open(processID)
        defer { if end >= 0 { close(end) } }
        while true {
            var items = [pollfd(fd: end, events: Int16(POLLIN), revents: 0)]
            items += pipes.map { pollfd(fd: $0.readEnd, events: Int16(POLLIN), revents: 0) }
            // Where the kernel has no pidfd, the end is looked for from time to time.
            let count = poll(&items, nfds_t(items.count), end >= 0 ? -1 : 50)
            if count < 0 && errno != EINTR { return }
            for index in pipes.indices where count > 0 && items[index + 1].revents != 0 { pipes[index].readOnce() }
            if end >= 0 ? count > 0 && items[0].revents != 0 : hasEnded(processID) { return }
        }
    }

    /// Whether it is a zombie by now; leaves it one.
    private func hasEnded(_ processID: Int32) -> Bool {
        var info = siginfo_t()
        let result = waitid(P_PID, id_t(processID), &info, WEXITED | WNOHANG | WNOWAIT)
        return result == 0 ? info.si_signo == SIGCHLD : errno == ECHILD
    }

    private func reap(_ processID: Int32) -> ProcessExit {
        var info = siginfo_t()
        while waitid(P_PID, id_t(processID), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
        // The zombie keeps the group's number from being used again: kill what is left of it before it is reaped.
        if plan.ownGroup { _ = kill(-processID, SIGKILL) }
        return keeping.withLock { keeping in
            var status: Int32 = 0
            while waitpid(processID, &status, 0) < 0 && errno == EINTR {}
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

    /// Lends strings as C takes them, an array of pointers that ends with a null pointer. They are freed when `body` returns.
    private func withCStrings<Result>(
        _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) }
        pointers.append(nil)
        defer { for pointer in pointers { free(pointer) } }
        return pointers.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { preconditionFailure("an array of one element has no address") }
            return body(base)
        }
    }

    /// Lends a string as C takes it, until `body` returns.
    private func withOptionalCString<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        guard let text else { return body(nil) }
        return text.withCString { body($0) }
    }
}

/// One output of a child: a pipe and the lines that come out of it.
private struct ChildPipe {
    let channel: ChildProcess.Channel
    let receive: @Sendable (ChildProcess.Channel, String) -> Void
    /// -1 once the child and all who inherited it have closed it.
    private(set) var readEnd: Int32
    let writeEnd: Int32
    private var splitter = LineSplitter()

    init(
        _ channel: ChildProcess.Channel, receive: @escaping @Sendable (ChildProcess.Channel, String) -> Void
    ) throws(SystemError) {
        var ends: (read: Int32, write: Int32) = (-1, -1)
        let result = loop_pipe(&ends.read, &ends.write)
        if result < 0 { throw SystemError("open a pipe", code: -result) }
        self.channel = channel
        self.receive = receive
        readEnd = ends.read
        writeEnd = ends.write
    }

    /// Reads what is there, at most one buffer full. False where nothing was.
    @discardableResult
    mutating func readOnce() -> Bool {
        guard readEnd >= 0 else { return false }
        var bytes = [UInt8](repeating: 0, count: 16 << 10)
        let count = read(readEnd, &bytes, bytes.count)
        let code = errno
        if count > 0 { splitter.feed(bytes.prefix(count)) { receive(channel, $0) } }
        if count == 0 || (count < 0 && code != EAGAIN && code != EINTR) {
            close(readEnd)
            readEnd = -1
        }
        return count > 0
    }

    /// Reads what is left without waiting for more, and closes.
    mutating func finish() {
        // A child's child that writes for ever does not hold the end: a pipe's worth was written before.
        var buffers = 0
        while buffers < 64, readOnce() { buffers += 1 }
        splitter.finish { receive(channel, $0) }
        if readEnd >= 0 { close(readEnd) }
        readEnd = -1
    }
}
