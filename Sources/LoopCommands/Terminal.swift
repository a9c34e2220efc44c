// Unsafe: the system's text is copied at once; it uses what it is passed only during the call.

import Glibc

/// What is known about the terminal, if there is one.
enum Terminal {
    /// Whether lines on standard error can be redrawn.
    static var canRedraw: Bool {
        guard isatty(2) == 1 else { return false }
        let name = unsafe getenv("TERM").map { unsafe String(cString: $0) } ?? ""
        return !name.isEmpty && name != "dumb"
    }

    /// Columns of the terminal on a descriptor, or nil where it is none.
    static func columns(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// How wide the help is.
    static var helpWidth: Int { min(max(columns(of: 1) ?? 100, 60), 120) }
}
