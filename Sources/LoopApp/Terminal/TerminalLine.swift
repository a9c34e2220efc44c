internal import Glibc
internal import Linux
internal import LoopView

/// The two descriptors of a terminal.
struct TerminalLine: Sendable {
    var input: Int32
    var output: Int32

    /// The terminal of this process.
    static let standard = TerminalLine(input: 0, output: 1)

    /// The present size of the terminal.
    var size: TerminalScreen.Size {
        guard let (columns, rows) = Terminals.size(of: output), rows > 0 else {
            return TerminalScreen.Size(columns: 80, rows: 24)
        }
        return TerminalScreen.Size(columns: columns, rows: rows)
    }

    /// Writes the whole text, however long that takes. If the terminal is closed, the rest is lost.
    func write(_ text: String) { try? SystemCall.write(Array(text.utf8), to: output) }

    /// The bytes that were typed, or nil at the end.
    func read() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        do throws(SystemError) {
            let count = try SystemCall.read(from: input, into: &bytes)
            return count > 0 ? Array(bytes[..<count]) : nil
        } catch {
            return error.code == EAGAIN ? [] : nil
        }
    }
}
