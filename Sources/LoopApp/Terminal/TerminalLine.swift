// Unsafe: the system uses what it is passed only during the call.

internal import Glibc
internal import LoopView

/// The two descriptors of a terminal.
struct TerminalLine: Sendable {
    var input: Int32
    var output: Int32

    /// The terminal of this process.
    static let standard = TerminalLine(input: 0, output: 1)

    /// What there is room for now.
    var size: TerminalScreen.Size {
        var size = winsize()
        guard unsafe ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return TerminalScreen.Size(columns: 80, rows: 24)
        }
        return TerminalScreen.Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Writes everything, however long that takes. What a closed terminal does not take is lost.
    func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe Glibc.write(output, Array(rest), rest.count)
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var ready = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
                unsafe poll(&ready, 1, -1)
            } else if errno != EINTR {
                return
            }
        }
    }

    /// What has been typed; nil at the end.
    func read() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe Glibc.read(input, &bytes, bytes.count)
            if count > 0 { return Array(bytes[..<count]) }
            if count < 0, errno == EINTR { continue }
            return count < 0 && errno == EAGAIN ? [] : nil
        }
    }
}
