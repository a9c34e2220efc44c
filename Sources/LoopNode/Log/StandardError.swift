internal import Glibc

/// Lines for people, apart from what a program prints as its result.
///
/// A separate thread writes them, in order, and no thread waits for the reader. While 1024 lines or 256 KiB wait, further lines
/// are dropped and counted, and a line in their stead says how many. A reader that has gone costs its lines, not the process,
/// because this thread blocks SIGPIPE. Lines that wait when the process exits are written within a second, if that is possible.
package enum StandardError {
    private static let writer: LogWriter = {
        let writer = LogWriter(2)
        atexit { StandardError.flush(within: .seconds(1)) }
        return writer
    }()

    /// Queues one whole line. Control characters are escaped. Never waits.
    package static func line(_ text: String) { writer.write(PrintableText.lines(text) + "\n") }

    /// Queues text that need not end with a newline. Never waits.
    package static func text(_ text: String) { writer.write(text) }

    /// Waits until everything so far is written, or the time is up.
    /// - Returns: whether it is written.
    @discardableResult
    package static func flush(within limit: Duration) -> Bool { writer.flush(within: limit) }

    /// How many lines were lost since this process began, because they were not read.
    package static var droppedCount: UInt64 { writer.droppedCount }
}
