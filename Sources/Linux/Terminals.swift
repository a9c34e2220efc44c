// Unsafe: the system uses what it is passed only during the call.

internal import Glibc

/// Terminals by the numbers of their descriptors.
package enum Terminals {
    /// The settings of a terminal.
    package struct Settings: Sendable {
        let settings: termios
    }

    /// The columns and rows of a terminal, or nil if it is not a terminal or does not say.
    package static func size(of descriptor: Int32) -> (columns: Int, rows: Int)? {
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// The settings of a terminal, or nil if it is not a terminal.
    package static func settings(of descriptor: Int32) -> Settings? {
        var settings = termios()
        return unsafe tcgetattr(descriptor, &settings) == 0 ? Settings(settings: settings) : nil
    }

    /// Restores the settings of a terminal.
    package static func set(_ settings: Settings, on descriptor: Int32) {
        var settings = settings.settings
        unsafe tcsetattr(descriptor, TCSANOW, &settings)
    }

    /// Sets raw mode: keys arrive one by one, without echo, and Ctrl-C is a key.
    /// - Throws: ``SystemError``.
    package static func makeRaw(_ descriptor: Int32, from settings: Settings) throws(SystemError) {
        var settings = settings.settings
        unsafe cfmakeraw(&settings)
        guard unsafe tcsetattr(descriptor, TCSANOW, &settings) == 0 else { throw SystemError("change the terminal") }
    }
}
