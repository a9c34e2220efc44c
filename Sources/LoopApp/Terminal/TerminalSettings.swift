internal import Glibc
internal import Linux
internal import LoopCollections
internal import LoopView

/// A terminal in raw mode: keys arrive one by one, without echo, and Ctrl-C is a key. `restore` or the process's exit ends it.
struct TerminalSettings: Sendable {
    private struct Before {
        var line: TerminalLine
        var settings: Terminals.Settings
    }

    /// The earlier settings, shared so that they are restored only once.
    private static let before = Locked<Before?>(nil)
    private static let givesBackAtExit: Bool = atexit { TerminalSettings.giveBack() } == 0

    /// - Throws: if input or output is not a terminal.
    init(_ line: TerminalLine) throws(SystemError) {
        guard isatty(line.output) == 1, let settings = Terminals.settings(of: line.input) else {
            throw SystemError(
                "show a view on the terminal", code: ENOTTY,
                hint: "run it in a terminal with input and output, or print its plainText()")
        }
        let old = Before(line: line, settings: settings)
        Self.before.withLock { $0 = $0 ?? old }
        _ = Self.givesBackAtExit
        try Terminals.makeRaw(line.input, from: settings)
    }

    func restore() { Self.giveBack() }

    private static func giveBack() {
        guard let old = before.withLock({ $0.take() }) else { return }
        old.line.write(TerminalScreen.restoring)
        Terminals.set(old.settings, on: old.line.input)
    }
}
