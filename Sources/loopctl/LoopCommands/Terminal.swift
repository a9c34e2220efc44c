import Glibc
import Linux
import LoopNode

/// Properties of the terminal, if there is one.
enum Terminal {
    /// Whether lines on standard error can be redrawn.
    static var canRedraw: Bool {
        guard isatty(2) == 1 else { return false }
        let name = ProcessEnvironment.current["TERM", default: ""]
        return !name.isEmpty && name != "dumb"
    }

    /// The columns of the terminal on a descriptor, or nil if it is not a terminal.
    static func columns(of descriptor: Int32) -> Int? { Terminals.size(of: descriptor)?.columns }

    /// The width of the help.
    static var helpWidth: Int { min(max(columns(of: 1) ?? 100, 60), 120) }
}
