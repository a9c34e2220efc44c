// Unsafe: the system uses what it is passed only during the call.

import Glibc
import LoopNode

/// The result of a command. Lines for people go to standard error.
enum StandardOutput {
    /// Writes one whole line at once, unless its reader is gone. Lines for people that were written before come first, as far
    /// as they have a reader.
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
