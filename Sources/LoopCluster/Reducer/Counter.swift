/// The counters of everything that is dropped or refused, by reason. The status shows them.
package enum Counter: String, CaseIterable, Sendable {
    case malformedFrame
    case foreignHistory
    case unknownSession
    case beforeClaim
    case duplicateEntry
    case gapInStream
    case refusedStale
    case refusedAttempt
    case refusedUndecodable
    case refusedEnded
    case refusedQuarantined
    case refusedOther
    case joinRefused
    /// Messages of principals that may not do what they ask.
    case notAllowed
    /// Join requests that name missing records, but come from another key than that of the session.
    case lossNotBelieved
    /// Sessions that ended because their keys lost the right to them.
    case sessionRevoked
    /// Connections that were ended because they subscribed to topics that they may not follow.
    case subscriptionRefused
    /// Connections that were ended because there were as many as allowed.
    case connectionsFull
    /// How often new connections were delayed for a while, because there were more in a second than allowed.
    case connectionsPutOff
    /// Connections that were ended because they sent nothing for long.
    case connectionSilent
    /// Connections that were ended because they had more unfinished or unread input than allowed.
    case inputFull
    /// Connections that were ended because they did not read their answers.
    case answersUnread
    /// Connections that ended before they had sent anything readable, for example because of a message above the size limit.
    case disconnected
    /// Handshakes that were broken off, because of foreign bytes, a key that is not admitted, or lack of time.
    case handshakeFailed
    /// Connections that the system could not open.
    case acceptFailed
    /// Join requests that had to wait because all sessions are taken.
    case sessionsFull
    /// Join requests that had to wait because one connection, key or machine has its share of the sessions.
    case sessionShareFull
    /// Idle sessions that were given up because all were taken.
    case sessionEvicted
    case olderEpoch
    case leaseExpired
    case effectFailed
    case effectTimedOut
    case effectParked
    case stateTransferBusy
    /// Streams of updates that were not served because there were too many.
    case updateStreamsFull
    /// Events that were set aside because the process ended in them.
    case quarantined
    /// Events in which the process had ended once, and which it survived alone in a turn.
    case reducedAlone
    /// Batches that should have waited for such a turn, and found no space. They come again.
    case deferredDropped
    /// Join requests that name records that this journal does not have.
    case historyLost
    /// Join requests of peers that have a session here and come from another history, so that another reducer has led with
    /// another journal.
    case otherHistory
    /// Lines of the process's log that were dropped, because they were not read.
    case droppedLogLine
}
