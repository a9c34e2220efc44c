import Glibc

/// What a command is asked for, apart from the lines for people on standard error.
enum StandardOutput {
    /// Writes one line at once, whole.
    static func line(_ text: String) { write(text + "\n", to: 1) }

    /// Writes the text, whole, unless nobody reads it any more.
    static func write(_ text: String, to descriptor: Int32) {
        var text = text
        text.withUTF8 { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let result = Glibc.write(descriptor, UnsafeBufferPointer(rebasing: rest).baseAddress, rest.count)
                if result < 0 && errno != EINTR { return }
                rest = rest.dropFirst(max(0, result))
            }
        }
    }
}
