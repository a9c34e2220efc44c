import Synchronization

/// Ends a node inside this process as SIGKILL ends a process: between two steps, with nothing written and nothing said.
///
/// A node looks at it at the beginning of each turn; a reducer also before its records are appended and before the messages
/// that depend on them leave.
final class KillSwitch: Sendable {
    private let flag = Atomic(false)

    func kill() { flag.store(true, ordering: .releasing) }

    /// - Throws: `NodeKilled` since ``kill()``.
    @inline(__always)
    func check() throws(NodeKilled) {
        if flag.load(ordering: .acquiring) { throw NodeKilled() }
    }
}

/// The end of a node that was killed inside this process.
package struct NodeKilled: Error, CustomStringConvertible {
    package var description: String { "the node was killed" }
}
