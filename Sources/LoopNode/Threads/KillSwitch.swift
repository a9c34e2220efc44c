import Synchronization

/// Ends a node inside this process as SIGKILL ends a process: between two steps, with nothing more written or sent.
///
/// A node checks it at the beginning of each turn. A reducer also checks it before its records are appended, and before the
/// messages that depend on them leave.
final class KillSwitch: Sendable {
    private let flag = Atomic(false)

    func kill() { flag.store(true, ordering: .releasing) }

    /// - Throws: `NodeKilled` once ``kill()`` was called.
    @inline(__always)
    func check() throws(NodeKilled) {
        if flag.load(ordering: .acquiring) { throw NodeKilled() }
    }
}

/// The end of a node that was killed inside this process.
package struct NodeKilled: Error, CustomStringConvertible {
    package var description: String { "the node was killed" }
}
