package import LoopCore
package import LoopWire

/// A recovery that continues: it applies what another process appends, as it comes.
///
///     cold ── the newest snapshot, or nothing ──▶ warm ── a page after its last row ──▶ warm
///      ▲                                            │
///      ├────── the journal does not have that row ──┤
///      └──▶ stopped ◀── a record that this definition cannot apply, a state hash that differs, damage
///
/// It never takes a record that is not proven to follow those that it has. An ordinary recovery reports what has stopped it.
package struct JournalFollower<Definition: LoopDefinition> {
    /// The result of a look at the journal.
    package enum Look: Equatable, Sendable {
        /// It began from a snapshot, or from the first record.
        case begun(at: Seq)
        /// Records were applied, and there are more.
        case behind
        /// It has everything that was there.
        case level
        /// It is cold, for this reason, because the journal does not continue what was followed. The reader has to be opened again.
        case lost(String)
        /// It is cold for this reason, and does not follow any more.
        case stopped(String)
    }

    private enum State {
        case cold
        /// Without an end it is in the middle of a row, at which a snapshot may have been taken.
        case warm(Recovery, RowEnd?, History)
        case stopped
    }

    private let definition: Definition
    private let coder: any ValueCoder
    private let reinterprets: Reinterpretation
    private var state = State.cold
    /// The newest records that it has applied but has not seen in the journal.
    private var ahead: ArraySlice<Record> = []
    /// The position of the newest record that was seen in the journal.
    package private(set) var newest: UInt64 = 0
    /// How far it had followed when the journal last lacked followed records, or nil if that was never so.
    package private(set) var lost: FollowedEnd?
    /// Notes for people, about snapshots that could not be used.
    package private(set) var notes: [String] = []

    /// - Parameters:
    ///   - definition: the loop to follow.
    ///   - coder: the coder of the definition's values.
    ///   - reinterprets: which events that another definition wrote are applied with this one.
    ///   - warm: the state from which to continue, or nil to begin with a snapshot.
    package init(
        _ definition: Definition, coder: any ValueCoder, reinterprets: Reinterpretation = .never,
        from warm: consuming WarmState? = nil
    ) {
        self.definition = definition
        self.coder = coder
        self.reinterprets = reinterprets
        guard let warm = warm.take() else { return }
        newest = warm.end.position
        ahead = warm.ahead[...]
        state = .warm(Recovery(going: warm, reinterprets: reinterprets), warm.end, warm.history)
    }

    /// The seq and the position of the newest applied record that the journal has, or nil while it is cold.
    package var applied: (seq: Seq, position: UInt64)? {
        guard case .warm(let recovery, _, _) = state else { return nil }
        let (seq, position) = (recovery.journaled.seq, recovery.journaled.position)
        return (Seq(seq.value - RecordLog(ahead).eventsCount), position - UInt64(ahead.count))
    }

    /// The present history of its state, or nil while it is cold.
    package var history: History? {
        guard case .warm(let recovery, _, _) = state else { return nil }
        return recovery.journaled.history
    }

    /// How many records are known to be in the journal, but are not applied yet.
    package var lag: UInt64 { newest - min(newest, applied?.position ?? 0) }

    /// The state for the next leader, or nil if there is none that could be continued.
    package var warm: WarmState? {
        guard case .warm(let recovery, let end?, let history) = state else { return nil }
        return WarmState(recovery.journaled, at: end, of: history, ahead: Array(ahead))
    }

    /// Hands over its warm state, and is cold afterwards.
    package mutating func handOver() -> WarmState? {
        guard let warm else { return nil }
        (state, ahead) = (.cold, [])
        return warm
    }

    /// Reads what follows, and applies it.
    /// - Parameters:
    ///   - journal: a journal that can be read while another process writes it. Pass one journal until a look is `.lost` or throws.
    ///   - bytesMax: about how many bytes of records are read.
    ///   - isCurrent: whether the source has all records of the leader. Records that another source lacks are not lost.
    ///   - isStopped: called before each record; returns true if the result is not needed any more.
    /// - Throws: `JournalError` if the journal cannot be read, or if a source that is not current lacks followed records. The next
    ///   look may succeed. `RecoveryError.stopped` if `isStopped` returns true.
    package mutating func look(
        at journal: any FollowedJournal, bytesMax: Int, isCurrent: () throws -> Bool = { true },
        isStopped: (() -> Bool)? = nil
    ) throws -> Look {
        do {
            switch state {
            case .stopped: return .stopped("it was stopped before")
            case .cold: return try begin(journal)
            case .warm: return try goOn(journal, bytesMax, isCurrent, isStopped)
            }
        } catch let error as JournalError where error.kind != .corrupt {
            throw error
        } catch RecoveryError.stopped {
            throw RecoveryError.stopped
        } catch {
            state = .stopped
            // No advice is given, because its source may be an isolated server, and only the leader judges the journal.
            let reason = (error as? JournalError)?.reason ?? (error as? RecoveryError)?.reason
            return .stopped(reason ?? "\(error)")
        }
    }

    private mutating func begin(_ journal: any FollowedJournal) throws -> Look {
        let recovery = try Recovery(beginningIn: journal, definition, coder: coder, reinterprets: reinterprets)
        notes = recovery.notes
        let (position, seq) = (recovery.journaled.position, recovery.journaled.seq)
        let end = try journal.end(ofRowAt: position)
        state = .warm(recovery, end, journal.history)
        newest = max(journal.position, position)
        return .begun(at: seq)
    }

    private mutating func goOn(
        _ journal: any FollowedJournal, _ bytesMax: Int, _ isCurrent: () throws -> Bool, _ isStopped: (() -> Bool)?
    ) throws -> Look {
        guard case .warm(var recovery, let end, let history) = state else { return .level }
        let position = recovery.journaled.position - UInt64(ahead.count)
        let found =
            journal.history == history
            ? try journal.page(after: position, checksum: end?.checksum, bytesMax: bytesMax) : nil
        let others = found == nil ? "does not have record" : "has other records behind record"
        guard let page = found, let rest = WarmState.rest(of: ahead, behind: page.records) else {
            guard try isCurrent() else {
                throw JournalError(
                    .unreachable, operation: "be followed",
                    reason: "its server \(others) \(position), and is not known to be the leader's",
                    remedy: "another one is read if there is one")
            }
            // Only records without a receipt are ahead, so other records instead of them are no loss.
            let reason =
                found == nil
                ? try reason(journal, history, position)
                : "another process has written behind record \(position): the followed records without a receipt are dropped"
            if found == nil, let warm { lost = warm.followed }
            (state, ahead) = (.cold, [])
            return .lost(reason)
        }
        newest = page.newest
        guard !page.records.isEmpty else { return .level }
        // With no second reference to the state, changing it makes no copy.
        state = .cold
        let new = page.records.dropFirst(ahead.count)
        ahead = rest
        do {
            try recovery.apply(DecodedPage(records: Array(new)), isStopped)
        } catch {
            state = .stopped
            throw error
        }
        state = .warm(recovery, page.end, history)
        let reached = recovery.journaled.position - UInt64(ahead.count)
        newest = max(newest, reached)
        return reached < newest ? .behind : .level
    }

    /// Why a journal does not have the row that ends with the newest followed record.
    private func reason(
        _ journal: any FollowedJournal, _ history: History, _ position: UInt64
    ) throws(JournalError) -> String {
        if journal.history != history { return "the journal is another one: its history is \(journal.history)" }
        let seq = applied?.seq ?? .initial
        if try journal.isTrimmed(beyond: seq) {
            return "the journal was trimmed beyond record \(position)"
        }
        return
            "the journal does not have record \(position), seq \(seq), as it was followed: it is another one, or a failover has"
            + " lost records, some of which may have been acknowledged"
    }
}
