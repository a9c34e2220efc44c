internal import Glibc
internal import Linux
internal import LoopCollections

/// Keeps one child on one thread: starts it, delivers its output, reaps it, and resumes those that wait for its end.
struct ChildKeeper {
    let plan: ChildProcess.Plan
    /// Set when the child is reaped. From then on its number may belong to another process.
    let isReaped: Locked<Bool>
    /// Set when the child has ended and all its output was delivered.
    let end: AwaitedValue<ProcessExit>

    /// Runs the child, and returns when it has ended. `started` is called once, when the child runs or could not be started.
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
        // The pipes contain what the child wrote before its end. Later output of its own children is not waited for.
        for pipe in pipes { pipe.finish() }
        end.set(status)
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
            // The child's ends of the pipes, which are closed here once it has them.
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

    /// Reads until the child has ended. Its pipes may close earlier, or later if its own children have them open.
    private func deliver(_ pipes: [ChildPipe], until processID: Int32) {
        let end = Child.end(of: processID)
        let number: Int32? =
            switch end {
            case .some(let end): end.number
            case nil: nil
            }
        while true {
            var items = [Poll.item(number, POLLIN)] + pipes.map { Poll.item($0.descriptor, POLLIN) }
            // Without a pidfd from the kernel, poll for the end.
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
        // The zombie keeps the group's number from being used again, so kill the rest of the group before reaping it.
        if plan.ownGroup { _ = kill(-processID, SIGKILL) }
        return isReaped.withLock { isReaped in
            let status = Child.reap(processID)
            isReaped = true
            return ProcessExit(waitStatus: status)
        }
    }
}

/// One output of a child: the read end of a pipe, and the lines that it yields.
private final class ChildPipe {
    let channel: ChildProcess.Channel
    let receive: @Sendable (ChildProcess.Channel, String) -> Void
    /// Nil once the child and all processes that inherited the write end have closed it.
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

    /// Reads what is available, one buffer at most. Returns false if there was nothing.
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

    /// Reads what remains without waiting for more, and closes the pipe.
    func finish() {
        // The limit is the capacity of a pipe, so that a child's child that writes for ever cannot delay the end.
        var buffers = 0
        while buffers < 64, readOnce() { buffers += 1 }
        splitter.finish { receive(channel, $0) }
        readEnd = nil
    }
}

/// Splits a stream of bytes into lines, however the bytes arrive.
struct LineSplitter {
    private let bytesMax: Int
    private var pending: [UInt8] = []

    /// - Parameter bytesMax: the length at which a line is cut.
    init(bytesMax: Int = 16 << 20) { self.bytesMax = bytesMax }

    /// Takes the next bytes and gives each line that is complete now, without `\n` or `\r\n`.
    mutating func feed(_ bytes: some Sequence<UInt8>, line: (String) -> Void) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                if pending.last == UInt8(ascii: "\r") { pending.removeLast() }
                flush(line)
            } else {
                pending.append(byte)
                if pending.count >= bytesMax { flush(line) }
            }
        }
    }

    /// Gives the last line, if it has no newline.
    mutating func finish(line: (String) -> Void) {
        if !pending.isEmpty { flush(line) }
    }

    private mutating func flush(_ line: (String) -> Void) {
        line(String(decoding: pending, as: UTF8.self))
        pending.removeAll(keepingCapacity: true)
    }
}
