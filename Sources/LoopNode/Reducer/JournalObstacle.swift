import LoopCluster
import LoopCore
import LoopCollections
import LoopWire

/// Why a reducer cannot use its journal, and since when. Each cause is logged when it is first noted, and every half minute
/// while it is noted again.
final class JournalObstacle: Sendable {
    private struct State {
        var error: JournalError?
        var since = MonotonicTime.zero
        var told: [JournalFault: MonotonicTime] = [:]
        var holders: Set<String> = []
    }

    private let state = Locked(State())
    private let log: NodeLog

    /// How often a lasting cause is logged.
    static let interval = Duration.seconds(30)

    init(_ log: NodeLog) { self.log = log }

    /// The newest error, and when the first one was noted, or nil if the journal can be used.
    var lasting: (error: JournalError, since: MonotonicTime)? {
        state.withLock { state in state.error.map { ($0, state.since) } }
    }

    /// Notes what is known of the process that has the journal. Without an obstacle, the database has answered.
    func note(_ owner: JournalOwner) {
        if let error = owner.obstacle { return note(error) }
        let since = state.withLock { state -> MonotonicTime? in
            guard state.error?.fault.reason.endsWithAnswer == true else { return nil }
            state.error = nil
            state.told = [:]
            return state.since
        }
        guard let since else { return }
        let duration = SystemClock.monotonic - since
        log.note(.journalRestored, "the database answers again, after \(duration.text)", [.duration(duration)])
    }

    /// Notes why the journal cannot be used at the moment.
    func note(_ error: JournalError, at now: MonotonicTime = SystemClock.monotonic) {
        if error.fault.reason == .heldByAnother { return noteHolder(error) }
        let since = state.withLock { state -> MonotonicTime? in
            if state.error == nil { state.since = now }
            state.error = error
            if let toldAt = state.told[error.fault], now - toldAt < Self.interval { return nil }
            state.told[error.fault] = now
            return state.since
        }
        guard let since else { return }
        log.note(
            .journalFailed, "\(error); not ready, trying again from the journal",
            Self.fields(error, since: now - since))
    }

    static func fields(_ error: JournalError, since duration: Duration) -> [LogField] {
        [.fault(error.fault.reason)] + (error.fault.sqlState.map { [.sqlState($0)] } ?? [])
            + (error.fault.host.map { [.host($0)] } ?? []) + [.duration(duration), .reason("\(error)")]
    }

    /// Logs once that another reducer leads. For a standby that is normal.
    private func noteHolder(_ error: JournalError) {
        let isNew = state.withLock { state in
            state.error = nil
            return state.holders.insert(error.reason).inserted
        }
        if isNew {
            log.note(
                .journal, "\(error.reason); waiting for it", [.fault(error.fault.reason), .reason(error.reason)])
        }
    }

    /// Notes that the journal can be used.
    /// - Returns: when the first error was noted, or nil if none lasts.
    @discardableResult func clear() -> MonotonicTime? {
        state.withLock { state in
            defer { state = State() }
            return state.error == nil ? nil : state.since
        }
    }
}

extension JournalFault.Reason {
    /// Whether the fault is over when a database answers a query.
    var endsWithAnswer: Bool {
        switch self {
        case .noDatabase, .databaseStarting, .readOnlyOnly, .auth, .pgHBA, .tls, .unknownDatabase, .tooManyConnections,
            .noTables, .schemaVersion, .pooler, .unsafeSettings:
            true
        default: false
        }
    }
}
