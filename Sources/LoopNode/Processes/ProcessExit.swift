internal import Linux

/// How a process ended.
package enum ProcessExit: Sendable, Hashable, CustomStringConvertible {
    /// By itself, with this code (0…255).
    case exited(Int32)
    /// By a signal of this number.
    case signaled(Int32)

    /// Creates it from the status that `waitpid` gives.
    init(waitStatus status: Int32) {
        let signal = status & 0x7F
        self = signal == 0 ? .exited((status >> 8) & 0xFF) : .signaled(signal)
    }

    /// Whether it ended by itself with code 0.
    package var isSuccess: Bool { self == .exited(0) }

    /// For people: `exit code 2`, `signal 9 (Killed)`.
    package var description: String {
        switch self {
        case .exited(let code): "exit code \(code)"
        case .signaled(let number):
            "signal \(number)" + (Signals.name(number).map { " (\($0))" } ?? "")
        }
    }
}
