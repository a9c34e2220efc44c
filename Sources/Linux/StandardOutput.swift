// Unsafe: the system uses its arguments only during the call, and writes a file's status into a local variable.

internal import CLinux
internal import Glibc

/// Standard output, where a program prints its result. A failed write is an error, so that no reader takes a part of
/// the result for the whole.
public enum StandardOutput {
    /// Opens those of the three standard descriptors that are closed (`>&-`), so that every write to them fails.
    /// Otherwise a file that is opened later gets such a number, and output is written into it. Call this first in
    /// `main`.
    public static func holdClosed() {
        for number: Int32 in 0...2 where fcntl(number, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", (number == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC)
        }
    }

    /// Writes a text without a buffer, and blocks until that is done.
    /// - Throws: ``OutputError`` if it cannot be written whole.
    public static func write(_ text: String) throws(OutputError) {
        guard isOpen else { throw OutputError(code: EBADF) }
        do {
            try SystemCall.write(Array(text.utf8), to: 1)
        } catch {
            throw OutputError(code: error.code)
        }
    }

    /// Whether descriptor 1 is a file, a pipe, a socket or a device. A runtime's own descriptor, which may have taken
    /// the number before `main`, is none of these.
    private static let isOpen: Bool = {
        var status = stat()
        return unsafe fstat(1, &status) == 0 && status.st_mode & S_IFMT != 0
    }()

    /// Writes what `print` has buffered, and ends the process with a code. If the write fails and the code is 0, the
    /// code is that of the failure. A line on standard error says so.
    public static func exit(_ code: Int32, _ program: String) -> Never {
        let result = loop_flush_output()
        guard result != 0 else { Glibc.exit(code) }
        let error = OutputError(code: max(result, 0))
        if !error.isReaderGone { try? SystemCall.write(Array("\(program): \(error)\n".utf8), to: 2) }
        Glibc.exit(code == 0 ? error.exitCode : code)
    }
}

/// The error of a write to standard output.
public struct OutputError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The `errno` of the write, or 0 if it is no longer known.
    public let code: Int32

    /// Whether the reader has closed its end, as `head` does. That is not a fault.
    public var isReaderGone: Bool { code == EPIPE }

    /// The exit code: 2, or 141 if the reader has closed its end, as a shell shows for SIGPIPE.
    public var exitCode: Int32 { isReaderGone ? 128 + SIGPIPE : 2 }

    /// One line for people.
    public var description: String {
        "could not write to standard output" + (code == 0 ? "" : ": \(SystemError("", code: code).text)")
    }
}
