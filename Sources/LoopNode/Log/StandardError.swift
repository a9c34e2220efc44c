internal import Glibc

/// Lines for people, apart from what a program prints as its result.
///
/// They are written by a thread of their own, in order. No thread waits for the reader: while up to 1024 lines or
/// 256 KiB wait, further lines are dropped and counted, and a line in their place says how many. A reader that has gone costs
/// its lines, and not the process: SIGPIPE does not come from here. What waits when the process exits is written within a
/// second, if that can be done.
public enum StandardError {
    private static let writer: LogWriter = {
        let writer = LogWriter(2)
        atexit { StandardError.flush(within: .seconds(1)) }
        return writer
    }()

    /// Hands one line over, whole. Control characters are escaped. Never waits.
    public static func line(_ text: String) { writer.write(PrintableText.lines(text) + "\n") }

    /// Hands text over that need not end with a line's end. Never waits.
    package static func text(_ text: String) { writer.write(text) }

    /// Waits until everything so far is written, or the time is up.
    /// - Returns: whether it is written.
    @discardableResult
    public static func flush(within limit: Duration) -> Bool { writer.flush(within: limit) }

    /// How many lines were lost since this process began, because they were not read.
    public static var droppedCount: UInt64 { writer.droppedCount }
}
