package import LoopWire

/// The progress of a turn that has not ended. The simulator compares two, to see what one message has changed.
package struct TurnProgress: Equatable, Sendable {
    /// The history and the epoch, whose records may be of this turn.
    package let history: History
    package let epoch: Epoch
    /// How many records the journal has, with those of this turn.
    package let position: UInt64
    /// How many messages the turn has made.
    package let messageCount: Int
    /// How many messages and subscriptions this process has refused because their principals may not send them.
    package let refusalCount: UInt64
    /// Whether records are missing, so that hardly any message is answered.
    package let isLost: Bool

    package init(
        history: History, epoch: Epoch, position: UInt64, messageCount: Int, refusalCount: UInt64, isLost: Bool
    ) {
        self.history = history
        self.epoch = epoch
        self.position = position
        self.messageCount = messageCount
        self.refusalCount = refusalCount
        self.isLost = isLost
    }
}

extension ReducerMachine {
    /// The progress of the present turn.
    package var progress: TurnProgress {
        TurnProgress(
            history: journaled.history, epoch: journaled.epoch, position: journaled.position,
            messageCount: turn.messages.count, refusalCount: turn.counters[.notAllowed] ?? 0, isLost: phase.isLost)
    }
}
