/// What an event of the log is about. The raw values are stable names for programs that read the log. Later versions may have more.
package enum LogKind: String, CaseIterable, Codable, Sendable {
    // A reducer's life.

    /// Peers can reach the reducer, or its health or that of a worker can be read over HTTP.
    case listening
    /// The state was recovered from the journal.
    case recovered
    /// The previous process ended abnormally; the text says how.
    case crashed
    /// The reducer waits for the journal, and sends peers to the leader.
    case standby
    /// Something was found or done when the journal was opened.
    case journal
    /// The journal could not be written. The reducer is not ready until it can.
    case journalFailed
    /// The journal can be written again.
    case journalRestored
    /// Acknowledged records are missing, and a new history begins.
    case historyBegun
    /// Another definition continues the journal.
    case definitionUpgrade
    /// A snapshot was written.
    case snapshot
    /// A snapshot could not be written, or one cannot be used.
    case snapshotFailed
    /// The address can be reached from other machines, and there are no keys.
    case insecure
    /// Keys were admitted or removed.
    case keysChanged
    /// There is no thread for work that should not delay the reducer.
    case noThread

    // Peers, as a reducer sees them.

    /// A peer has joined.
    case joined
    /// A peer's session has ended.
    case left
    /// A peer was silent for the silence limit, and its effects run elsewhere.
    case lost
    /// A peer that was lost, or the reducer, is in contact again.
    case reconnected
    /// A worker names groups that have no feedbacks, or has nothing to serve.
    case idle
    /// Effects of a feedback wait, and no worker serves it.
    case unserved
    /// A worker serves the feedback again, or no effect of it waits any more.
    case served
    /// A peer has tried something that its role does not allow.
    case notAllowed
    /// A connection has subscribed to a topic that is not its own, and was ended.
    case subscriptionRefused
    /// Connections were ended because the limit is reached, or fewer may be open than the options ask for.
    case connectionsFull
    /// A frame could not be read, and was dropped.
    case malformedFrame

    // Effects and events.

    /// An attempt has failed, and the effect is tried again.
    case effectFailed
    /// An effect has failed for good, or cannot be sent.
    case parked
    /// An event was set aside, because the reducer has ended in it.
    case quarantined
    /// An event was refused, because its bytes are no event of this loop.
    case undecodable
    /// The reducer's clock is behind the times in the journal, so timers and schedules do not run.
    case clockBehind
    /// The clock has caught up, or counts as right.
    case clockCaughtUp
    /// An event, applied twice to one state, gave two results.
    case impure
    /// The event of a schedule's run could not be made.
    case runLeftOut

    // Workers, observers and senders.

    /// Bodies of effects occupy every thread of Swift's pool.
    case poolBlocked
    /// The node waits for a reducer, or for what its definition needs.
    case waiting
    /// The reducer keeps the peer waiting.
    case keptWaiting
    /// The loop continues in another history, either a new one or that of another leader with a different journal.
    case historyChanged
    /// The reducer names an address that cannot be used, the file of a socket has gone, or the service manager cannot be told
    /// anything.
    case badAddress
    /// What an observer received does not fit its state.
    case diverged
    /// A handle's connection has ended with an error.
    case connectionEnded
    /// A handle or a worker has ended before the reducer confirmed what it sent.
    case unsettled
    /// Something was found when an outbox file was opened.
    case outbox
    /// Spans of traces could not be exported.
    case tracesDropped

    // Programs.

    /// The program could not run, and ends.
    case failed

    /// The level of events of this kind, unless an event has its own.
    package var level: LogLevel {
        switch self {
        case .snapshot, .joined, .left: .info
        case .listening, .standby, .recovered, .journal, .journalRestored, .definitionUpgrade, .keysChanged,
            .reconnected, .served, .clockCaughtUp, .outbox:
            .notice
        case .insecure, .noThread, .lost, .idle, .unserved, .clockBehind, .notAllowed, .subscriptionRefused,
            .connectionsFull, .malformedFrame, .effectFailed, .undecodable, .poolBlocked, .waiting, .keptWaiting,
            .historyChanged,
            .badAddress, .diverged, .tracesDropped:
            .warning
        case .crashed, .journalFailed, .historyBegun, .snapshotFailed, .parked, .quarantined, .impure, .runLeftOut,
            .connectionEnded, .unsettled, .failed:
            .error
        }
    }
}
