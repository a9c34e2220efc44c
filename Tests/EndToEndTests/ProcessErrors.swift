import Glibc
import LoopCore
import LoopNode
import LoopWire
import TestFolders

/// A named pipe as a process's standard error, which only the test reads.
final class ErrorPipe: Sendable {
    let path: String
    private let readEnd: Int32

    init(in folder: TestFolder) {
        path = "\(folder.path)/errors"
        precondition(mkfifo(path, 0o600) == 0, "no pipe at \(path)")
        readEnd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        precondition(readEnd >= 0, "no reader of \(path)")
    }

    /// Writes until there is no room for another byte.
    func fill() {
        let descriptor = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        let bytes = [UInt8](repeating: UInt8(ascii: "."), count: 4096)
        var count = bytes.count
        while count > 0 {
            if write(descriptor, bytes, count) <= 0 { count /= 2 }
        }
        close(descriptor)
    }

    /// The reader goes away. A process that another test forks at this moment has a copy of it until it runs its program, so
    /// this waits until the pipe has no reader: then it cannot be opened for writing.
    func closeReader() {
        close(readEnd)
        while true {
            let writer = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            guard writer >= 0 else {
                precondition(errno == ENXIO, "\(path) cannot be opened: error \(errno)")
                return
            }
            close(writer)
            usleep(1_000)
        }
    }

    /// Starts a program with this pipe as its standard error.
    func start(_ program: String, _ arguments: [String]) throws -> ChildProcess {
        try ChildProcess(
            .init("/bin/sh", ["-c", "exec \"$0\" \"$@\" 2>'\(path)'", program] + arguments, output: .discarded))
    }
}

extension ChildProcess {
    /// How it ended, or nil where it still runs when the time is up.
    func wait(within limit: Duration) async -> ProcessExit? {
        await withTaskGroup(of: ProcessExit?.self) { group in
            group.addTask { await self.wait() }
            group.addTask {
                try? await Task.sleep(for: limit)
                return nil
            }
            let first = await group.next() ?? nil
            if first == nil { self.kill() }
            group.cancelAll()
            return first
        }
    }
}

/// The last report of a reducer that answers, but whose report never fits.
struct ReportNeverFits: Error {
    let last: StatusReport
}

/// What the reducer reports about itself, once that fits.
func status(
    of address: ReducerAddress, until fits: (StatusReport) -> Bool = { _ in true }
) async throws -> StatusReport {
    let deadline = SystemClock.monotonic + .seconds(20)
    while true {
        let report = try? StatusProbe.ask(address, within: .seconds(1))
        if let report, fits(report) { return report }
        guard SystemClock.monotonic < deadline else {
            if let report { throw ReportNeverFits(last: report) }
            throw NodeError.noAnswer(address, after: .seconds(20))
        }
        try await Task.sleep(for: .milliseconds(20))
    }
}
