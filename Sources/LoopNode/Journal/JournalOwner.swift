package import LoopCluster
package import LoopWire

/// The process that has a journal, as those that wait for it are told.
package struct JournalOwner: Equatable, Sendable {
    /// The address at which peers find it, in the form of `--reducer`; nil: it is not known.
    package var address: String?
    /// Its epoch, by which a peer knows whether this is news; `.none`: the journal does not tell those that wait.
    package var epoch: Epoch
    /// Why the journal is not free: another process has it, or it cannot be asked.
    package var obstacle: JournalError?

    package init(address: String? = nil, epoch: Epoch = .none, obstacle: JournalError? = nil) {
        self.address = address
        self.epoch = epoch
        self.obstacle = obstacle
    }
}
