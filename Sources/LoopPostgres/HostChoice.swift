internal import LoopCollections

/// The choice of the host that is tried first. An old primary without standbys takes connections like the new one, but none of its
/// commits ever has a receipt. A process that always returned to it would not find the new one.
package final class HostChoice: Sendable {
    private let host = Locked(0)

    /// The host that is tried first, from 0.
    var first: Int { host.withLock { $0 } }

    /// Notes an error of a connection to a host.
    func notice(_ error: PostgresError, at number: Int) {
        switch error.kind {
        case .late, .warned, .unconfirmed: leave(number)
        case .lost, .refused, .misuse: break
        }
    }

    /// Tries this host first from now on.
    func prefer(_ number: Int) { host.withLock { $0 = number } }

    /// Tries the other hosts first from now on.
    func leave(_ number: Int) { host.withLock { $0 = number + 1 } }
}
