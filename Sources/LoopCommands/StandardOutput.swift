import Linux
import LoopNode

/// The result of a command. Lines for people go to standard error.
enum StandardOutput {
    /// Writes one whole line, with control characters escaped, at once, unless its reader is gone. Lines for people that were written before come first, as far
    /// as they have a reader.
    static func line(_ text: String) {
        StandardError.flush(within: .milliseconds(200))
        try? SystemCall.write(Array((PrintableText.lines(text) + "\n").utf8), to: 1)
    }
}
