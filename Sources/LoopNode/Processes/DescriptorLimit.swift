internal import Linux

/// How many files and sockets this process may have open. A reducer needs some for each peer. If none is free, libzmq retries
/// `accept` in a loop, at the cost of a core.
package enum DescriptorLimit {
    /// The limit now.
    package static var current: Int { limit.soft }

    /// Raises the limit to the hard limit of the system, but at most to `most`.
    ///
    /// - Returns: the limit from now on.
    @discardableResult
    package static func raise(atMost most: Int = 65_536) -> Int {
        let (soft, hard) = limit
        guard soft < most, soft < hard else { return soft }
        return System.limitDescriptors(soft: min(most, hard), hard: hard) ? min(most, hard) : soft
    }

    /// With fewer files, libzmq ends the process without a message.
    private static let least = 64

    /// Raises the limit as `raise` does.
    /// - Throws: `NodeError.system` if it is too low for a program of Loop.
    package static func ensure() throws(NodeError) {
        let limit = raise()
        guard limit >= least else {
            throw .system("this process may have \(limit) files open, and needs \(least); raise `ulimit -n`")
        }
    }

    private static var limit: (soft: Int, hard: Int) { System.descriptorLimit ?? (1024, 1024) }
}
