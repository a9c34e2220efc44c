// Unsafe: the system uses what it is passed only during the call, and writes a file's status into a local variable.

internal import CLinux
internal import Glibc

/// Standard output, to which a program prints its result. A reader must not take a part of the result for the whole, so a program
/// notices if it cannot be written.
package enum StandardOutput {
    /// Opens the standard descriptors that the process was started without (`>&-`), so that every use of them fails. Otherwise a
    /// file that is opened later would get the number, and be written to. Call it first in `main`.
    package static func holdClosed() {
        for number: Int32 in 0...2 where fcntl(number, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", (number == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC)
        }
    }

    /// Writes a text at once, however long that takes.
    /// - Throws: ``OutputError`` if the text cannot be written completely.
    package static func write(_ text: String) throws(OutputError) {
        guard isOpen else { throw OutputError(code: EBADF) }
        do {
            try SystemCall.write(Array(text.utf8), to: 1)
        } catch {
            throw OutputError(code: error.code)
        }
    }

    /// Whether the descriptor is a file, a pipe, a socket or a device. A runtime's own descriptor is none of these, and may have
    /// taken the number before `main`.
    private static let isOpen: Bool = {
        var status = stat()
        return unsafe fstat(1, &status) == 0 && status.st_mode & S_IFMT != 0
    }()

    /// Ends the process with a code, after the text that `print` has buffered was written. If that fails, it reports the error and
    /// ends with its code.
    package static func exit(_ code: Int32, _ program: String) -> Never {
        let result = loop_flush_output()
        guard result != 0 else { Glibc.exit(code) }
        let error = OutputError(code: max(result, 0))
        if !error.isReaderGone { try? SystemCall.write(Array("\(program): \(error)\n".utf8), to: 2) }
        Glibc.exit(code == 0 ? error.exitCode : code)
    }
}

/// Standard input, from which a program reads what it is given.
package enum StandardInput {
    /// All bytes up to its end.
    /// - Parameter limit: the largest number of bytes to read.
    /// - Throws: ``SystemError``, with the code EBADF if the process was started without it.
    package static func bytes(atMost limit: Int) throws(SystemError) -> [UInt8] {
        var status = stat()
        // A runtime's own descriptor may have taken the number before `main`.
        guard unsafe fstat(0, &status) == 0, status.st_mode & S_IFMT != 0 else {
            throw SystemError("read standard input", code: EBADF)
        }
        return try SystemCall.readAll(from: 0, atMost: limit)
    }
}

/// The error of a write to standard output.
package struct OutputError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The `errno` of the write, or 0 if it is no longer known.
    package let code: Int32

    /// Whether the reader has closed its end, as `head` does when it has enough. That is no fault.
    package var isReaderGone: Bool { code == EPIPE }

    /// The code to exit with: 2, or the code that a shell shows for a program that SIGPIPE has ended.
    package var exitCode: Int32 { isReaderGone ? 128 + SIGPIPE : 2 }

    /// One line for people.
    package var description: String {
        "could not write to standard output" + (code == 0 ? "" : ": \(SystemError("", code: code).text)")
    }
}
