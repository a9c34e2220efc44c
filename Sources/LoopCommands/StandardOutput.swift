// Unsafe: the system uses what it is passed only during the call.

import Glibc
import LoopNode

/// What a command is asked for, apart from the lines for people on standard error.
enum StandardOutput {
    /// Writes one line at once, whole, unless nobody reads it any more. What was said to people before is there first, as far
    /// as somebody reads it.
    static func line(_ text: String) {
        StandardError.flush(within: .milliseconds(200))
        var rest = Array((text + "\n").utf8)[...]
        while !rest.isEmpty {
            let result = unsafe write(1, Array(rest), rest.count)
            if result < 0 && errno != EINTR { return }
            rest = rest.dropFirst(max(0, result))
        }
    }
}
