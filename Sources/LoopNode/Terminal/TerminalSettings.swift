internal import CLinux
internal import Glibc
internal import LoopLock
internal import LoopView

/// The terminal of this process in raw mode: keys come one by one, unechoed, and Ctrl-C is a key. Given back by
/// `restore`, and when the process exits.
struct TerminalSettings: Sendable {
    /// What was there before; shared, so that it is given back once.
    private static let before = Locked<termios?>(nil)
    private static let givesBackAtExit: Bool = atexit { TerminalSettings.giveBack() } == 0

    /// - Throws: where input or output is no terminal.
    init() throws(SystemError) {
        var settings = termios()
        guard isatty(1) == 1, tcgetattr(0, &settings) == 0 else {
            throw SystemError(
                "show a view on the terminal", code: ENOTTY,
                hint: "run it in a terminal with input and output, or print its plainText()")
        }
        let old = settings
        Self.before.withLock { $0 = $0 ?? old }
        _ = Self.givesBackAtExit
        cfmakeraw(&settings)
        guard tcsetattr(0, TCSANOW, &settings) == 0 else { throw SystemError("change the terminal", code: errno) }
    }

    func restore() { Self.giveBack() }

    private static func giveBack() {
        guard var old = before.withLock({ $0.take() }) else { return }
        TerminalOutput.write(TerminalScreen.restoring)
        tcsetattr(0, TCSANOW, &old)
    }

    /// What there is room for now.
    static var size: TerminalScreen.Size {
        var size = winsize()
        guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return TerminalScreen.Size(columns: 80, rows: 24)
        }
        return TerminalScreen.Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }
}

enum TerminalOutput {
    /// Writes to standard output, however long that takes. What a closed terminal does not take is lost.
    static func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(1, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var ready = pollfd(fd: 1, events: Int16(POLLOUT), revents: 0)
                poll(&ready, 1, -1)
            } else if errno != EINTR {
                return
            }
        }
    }
}
