import Glibc
import LoopNode

/// What a command is asked for, apart from the lines for people on standard error.
enum StandardOutput {
    /// Writes one line at once, whole, unless nobody reads it any more. What was said to people before is there first, as far
    /// as somebody reads it.
    static func line(_ text: String) {
        StandardError.flush(within: .milliseconds(200))
        var text = text + "\n"
        text.withUTF8 { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let result = write(1, UnsafeBufferPointer(rebasing: rest).baseAddress, rest.count)
                if result < 0 && errno != EINTR { return }
                rest = rest.dropFirst(max(0, result))
            }
        }
    }
}
