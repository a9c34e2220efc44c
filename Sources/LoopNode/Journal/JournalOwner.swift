package import LoopCluster
package import LoopWire

/// The process that has a journal, as waiting processes see it.
package struct JournalOwner: Equatable, Sendable {
    /// The address at which peers reach it, in the form of `--reducer`, or nil if it is unknown.
    package var address: String?
    /// Its epoch, by which a peer knows whether this is newer, or `.none` if the journal does not say.
    package var epoch: Epoch
    /// Why the journal is not free: another process has it, or it does not respond.
    package var obstacle: JournalError?

    package init(address: String? = nil, epoch: Epoch = .none, obstacle: JournalError? = nil) {
        self.address = address
        self.epoch = epoch
        self.obstacle = obstacle
    }
}
