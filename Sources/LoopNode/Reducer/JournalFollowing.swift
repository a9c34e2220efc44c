import LoopCluster
package import LoopCore
import LoopCollections
package import LoopWire

/// How far a standby has followed the journal.
package struct FollowingReport: Equatable, Sendable {
    package var seq = Seq.initial
    package var position: UInt64 = 0
    /// The first history of the journal that it has followed, or nil if it has not begun.
    package var firstHistory: History?
    /// The present history of the state that it follows, or nil while it is cold.
    package var presentHistory: History?
    /// The number of records that it knows of, from its source or from the leader, and has not applied.
    package var lag: UInt64 = 0
    /// When it last had every record of the leader, as far as is known, or nil if it never had.
    package var levelAt: MonotonicTime?
    /// Why it has no state to continue from, or nil if it has one.
    package var coldBecause: String? = "it has not begun yet"

    package init() {}
}

/// The thread on which a standby follows the journal while the leader writes it.
final class JournalFollowing<Definition: LoopDefinition>: Sendable {
    private struct State {
        var report = FollowingReport()
        /// Whether the thread waits for the journal, which may take as long as a statement of a database.
        var isReading = false
        var isEnding = false
        var isDone = false
        /// The state that can be taken: while the thread reads, and when it is done.
        var warm: WarmState?
        /// How far it had followed when it found records lost, or nil if that never happened.
        var lost: FollowedEnd?
        /// Whether the state was taken. Records that are read afterwards are not needed.
        var isTaken = false
        var signs: LeaderSigns
    }

    private let state: Monitor<State>
    private let definition: Definition
    private let configuration: ReducerNodeConfiguration
    private let log: NodeLog
    private let isStopping: @Sendable () -> Bool

    /// How often it looks for records while it has all of them.
    private static var looksEvery: Duration { .milliseconds(10) }
    /// How long it waits after the journal could not be read.
    private static var pause: Duration { .milliseconds(250) }
    /// How much it applies between two looks. It is small, so that a hand-over comes soon.
    private static var pageBytes: Int { 256 << 10 }

    /// Begins to follow.
    /// - Parameter warm: the state to continue from, or nil to begin at the newest snapshot.
    init(
        _ definition: Definition, _ configuration: ReducerNodeConfiguration,
        from warm: consuming WarmState?,
        log: NodeLog, isStopping: @escaping @Sendable () -> Bool
    ) {
        state = Monitor(State(warm: warm, signs: LeaderSigns(lease: configuration.journalLease)))
        self.definition = definition
        self.configuration = configuration
        self.log = log
        self.isStopping = isStopping
        guard let read = configuration.journal.read else {
            endBeforeBegin("a journal in memory cannot be followed")
            return
        }
        do {
            _ = try NodeThread("loop-follow") { [self] in
                let result = follow(read)
                state.withLock { state in
                    state.warm = result
                    state.isDone = true
                }
                state.broadcast()
            }
        } catch {
            endBeforeBegin("there is no thread for it: \(error)")
        }
    }

    private func endBeforeBegin(_ reason: String) {
        state.withLock { state in
            state.report.coldBecause = reason
            state.isDone = true
        }
    }

    /// The present report.
    var report: FollowingReport { state.withLock { $0.report } }

    /// How far it had followed when it found records lost, or nil if that never happened.
    var lost: FollowedEnd? { state.withLock { $0.lost } }

    /// Notes a renewal of the leader.
    /// - Parameter end: the end of the leader's journal.
    func hear(_ end: RowEnd) {
        state.withLock { state in
            state.signs.hear(end, at: SystemClock.monotonic)
            state.report.lag = max(state.report.lag, state.signs.lag)
        }
    }

    /// What it has heard of the leader.
    private var signs: LeaderSigns { state.withLock { $0.signs } }

    /// Ends the thread.
    func end() {
        state.withLock { $0.isEnding = true }
        state.broadcast()
    }

    /// Ends the thread, and takes its state.
    /// - Returns: the state, or nil if there is none from which a reducer could continue.
    func handOver() -> WarmState? {
        end()
        // Applying records is necessary in any case, but a read may never return.
        return state.wait(until: { $0.isDone || $0.isReading }) { state in
            state.isTaken = true
            return state.warm.take()
        }
    }

    // MARK: On the thread

    private func follow(_ read: JournalPlace.Reader) -> WarmState? {
        // The state is moved out, because a shared one would be copied at its first change.
        var follower = JournalFollower(
            definition, coder: CBORCoder(), reinterprets: configuration.reinterprets,
            from: state.withLock { $0.warm.take() })
        if let seq = follower.applied?.seq {
            tell("follows the journal from seq \(seq) on, up to which it has led", seq: seq)
            note(follower, nil)
        }
        while !isOver {
            do {
                var journal = try reading(follower.warm) { try read(Definition.name) { _ in } }
                defer { journal.close() }
                guard let followed = journal as? any FollowedJournal else {
                    note(follower, "this journal cannot be followed")
                    return nil
                }
                guard try follow(followed, &follower) else { return nil }
            } catch RecoveryError.stopped {
                return nil
            } catch {
                // The state here is still good, because the next look compares it with the journal.
                note(follower, follower.applied == nil ? "\(error)" : nil)
                rest(for: Self.pause)
            }
        }
        return follower.handOver()
    }

    /// - Returns: whether to go on with the journal opened again.
    private func follow(
        _ journal: any FollowedJournal, _ follower: inout JournalFollower<Definition>
    ) throws -> Bool {
        var source = SourceWatch()
        while !isOver {
            let began = SystemClock.monotonic
            let isStopping = isStopping
            let look = try reading(follower.warm) {
                try follower.look(
                    at: journal, bytesMax: Self.pageBytes,
                    isCurrent: { [self] in
                        let isCurrent = try signs.isCurrent(journal, at: began)
                        if !isCurrent { journal.leaveSource() }
                        return isCurrent
                    }
                ) { [self] in
                    // The first record of a page has been read, and its application follows.
                    applies() || isStopping()
                }
            }
            switch look {
            case .begun(let seq):
                state.withLock { [history = journal.history] in $0.report.firstHistory = history }
                for note in follower.notes { log.note(.snapshotFailed, note, [.reason(note)]) }
                tell("follows the journal, from seq \(seq) on", seq: seq)
                note(follower, nil)
            case .behind: note(follower, nil)
            case .level:
                let signs = signs
                let hasAll = try source.hasAll(through: signs.heard?.end, at: began) { end in
                    try reading(follower.warm) { try journal.end(ofRowAt: end.position) == end }
                }
                note(follower, nil, levelAt: hasAll ? signs.levelTime(journal, lookedAt: began) : nil)
                if let heard = signs.heard?.end, source.isStill(at: began) {
                    tell(
                        "its server, which ends at record \(follower.newest), lacks the leader's record \(heard.position): it reads"
                            + " elsewhere")
                    journal.leaveSource()
                    return true
                }
                rest(for: Self.looksEvery)
            case .lost(let reason):
                state.withLock { [lost = follower.lost] in $0.lost = lost }
                note(follower, reason)
                tell("\(reason); it begins again from a snapshot", level: .warning)
                rest(for: Self.looksEvery)
                return true
            case .stopped(let reason):
                note(follower, reason)
                tell("does not follow the journal any more: \(reason)", level: .warning)
                return false
            }
        }
        return true
    }

    private var isOver: Bool { state.withLock { $0.isEnding } || isStopping() }

    private func rest(for duration: Duration) { _ = state.wait(until: { $0.isEnding }, timeout: duration) }

    /// Runs `body`, which may wait for the journal. Meanwhile the state can be taken.
    private func reading<Result>(
        _ warm: consuming WarmState?, _ body: () throws -> Result
    ) rethrows -> Result {
        let isEnding = state.withLock { [warm = warm.take()] state in
            (state.isReading, state.warm) = (true, warm)
            return state.isEnding
        }
        if isEnding { state.broadcast() }
        defer { applies() }
        return try body()
    }

    /// Removes the shared copy of the state before the follower changes its own, which would otherwise be copied.
    /// - Returns: whether the state was already taken.
    @discardableResult
    private func applies() -> Bool {
        state.withLock { state in
            if state.isReading { (state.isReading, state.warm) = (false, nil) }
            return state.isTaken
        }
    }

    private func note(_ follower: JournalFollower<Definition>, _ cold: String?, levelAt: MonotonicTime? = nil) {
        let (applied, lag, history) = (follower.applied, follower.lag, follower.history)
        state.withLock { state in
            state.report.coldBecause = cold
            state.report.presentHistory = history
            if let applied {
                state.signs.reach(applied.position)
                (state.report.seq, state.report.position) = (applied.seq, applied.position)
            } else {
                state.report.levelAt = nil
            }
            state.report.lag = max(lag, state.signs.lag)
            if let levelAt, state.report.lag == 0 { state.report.levelAt = levelAt }
        }
    }

    private func tell(_ text: String, seq: Seq? = nil, level: LogLevel = .notice) {
        log.note(.standby, "standing by: \(text)", seq.map { [.seq($0)] } ?? [], level: level)
    }
}
