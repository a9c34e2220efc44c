package import LoopWire

/// The lengths of the reducer's queues, for checks of their limits (G10).
extension ReducerMachine {
    package var queues: [QueueMeasure] {
        var queues = [
            QueueMeasure(.deferredBatches, poison.deferred.batches.count),
            QueueMeasure(.sessions, journaled.sessions.count),
        ]
        queues += admission.members.map { QueueMeasure(.commands, $0.value.inbox.pendingCount) }
        // A replay brings back forgotten outcomes, until the sender reports again which ones it knows.
        for (session, member) in admission.members where member.hasReported {
            queues.append(QueueMeasure(.outcomes, journaled.sessions[session]?.notable.count ?? 0))
        }
        var kept: [StateTransfer.Purpose: Int] = [:]
        for transfer in updates.transfers { kept[transfer.purpose, default: 0] += 1 }
        return queues + kept.values.map { QueueMeasure(.transfers, $0) }
    }

    /// The number up to which the entries of a session were read without a gap. It is nil if the session is not admitted, and its
    /// batches are dropped.
    package func read(of session: SessionID) -> UInt64? {
        guard !phase.isLost, admission.members[session]?.hasJoined == true, let record = journaled.sessions[session]
        else { return nil }
        return poison.received(of: session, after: record.watermark)
    }
}

/// The length of one queue.
package struct QueueMeasure: Sendable {
    package enum Kind: String, Sendable {
        /// Commands that wait for one peer.
        case commands
        /// Outcomes of one session that are kept in case its sender asks.
        case outcomes
        /// Batches that wait while an event is reduced alone.
        case deferredBatches = "deferred batches"
        /// Encoded states of one kind that are kept for observers that fetch them.
        case transfers
        case sessions
    }

    package let kind: Kind
    package let count: Int

    init(_ kind: Kind, _ count: Int) {
        self.kind = kind
        self.count = count
    }
}

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
