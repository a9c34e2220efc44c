import Glibc

/// Lines for people, apart from what a program prints as its result.
public enum StandardError {
    /// Writes one line at once, whole.
    public static func line(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        var written = 0
        while written < bytes.count {
            let result = bytes[written...].withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
            if result < 0 && errno != EINTR { return }
            written += max(0, result)
        }
    }
}
