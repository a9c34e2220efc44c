package import LoopWire

/// How full the reducer's queues are, for those who watch that they have limits (G10).
extension ReducerCore {
    var queues: [QueueMeasure] {
        var queues = [
            QueueMeasure(.deferredBatches, poison.deferred.batches.count),
            QueueMeasure(.sessions, journaled.sessions.count),
        ]
        queues += admission.members.map { QueueMeasure(.commands, $0.value.inbox.pendingCount) }
        // A replay brings back what was forgotten, until the sender says again what it knows.
        for (session, member) in admission.members where member.hasReported {
            queues.append(QueueMeasure(.outcomes, journaled.sessions[session]?.notable.count ?? 0))
        }
        var kept: [StateTransfer.Purpose: Int] = [:]
        for transfer in updates.transfers { kept[transfer.purpose, default: 0] += 1 }
        return queues + kept.values.map { QueueMeasure(.transfers, $0) }
    }

    /// Up to where the entries of a session have been read without a gap; nil: it is not let in, and its batches are dropped.
    package func read(of session: SessionID) -> UInt64? {
        guard !phase.isLost, admission.members[session]?.hasJoined == true, let record = journaled.sessions[session]
        else { return nil }
        return poison.received(of: session, after: record.watermark)
    }
}

/// How much one queue holds.
package struct QueueMeasure: Sendable {
    package enum Kind: String, Sendable {
        /// What waits to be told to one peer.
        case commands
        /// What is kept of one session for a sender that may ask.
        case outcomes
        /// Batches that wait while an event is reduced alone.
        case deferredBatches = "deferred batches"
        /// Encoded states of one kind that are kept for those who fetch them.
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

extension StateTransfer {
    /// Those with one purpose share a limit.
    struct Purpose: Hashable {
        let section: Int?
        let followsDeltas: Bool
    }

    var purpose: Purpose { Purpose(section: section, followsDeltas: stream != nil) }
}
