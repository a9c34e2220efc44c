import LoopCluster
import LoopCore
import LoopLock
import LoopWire

/// How far a standby has followed the journal.
struct FollowingReport: Equatable, Sendable {
    var seq = Seq.initial
    var position: UInt64 = 0
    /// Of the journal that it has followed; nil: it has not begun.
    var history: History?
    /// How many records it has not applied of those that it knows of.
    var lag: UInt64 = 0
    /// When the newest look began at which it had, or came to have, everything that was there; nil: it never had.
    var levelAt: MonotonicTime?
    /// Why it has no state to go on from; nil: it has one.
    var coldBecause: String? = "it has not begun yet"
}

/// The thread on which a standby follows the journal, as its leader writes it.
final class JournalFollowing<Definition: LoopDefinition>: Sendable {
    private struct State {
        var report = FollowingReport()
        /// Whether it waits for the journal, which may take as long as a statement of a database.
        var isReading = false
        var isEnding = false
        var isDone = false
        var warm: WarmState<Definition>?
    }

    private let state: Monitor<State>
    private let definition: Definition
    private let configuration: ReducerNodeConfiguration
    private let log: NodeLog
    private let isStopping: @Sendable () -> Bool

    /// How often it looks when it is level.
    private static var looksEvery: Duration { .milliseconds(10) }
    /// How long it leaves a journal alone that could not be read.
    private static var pause: Duration { .milliseconds(250) }
    /// How much it applies between two looks: small, so that it can hand over soon.
    private static var pageBytes: Int { 256 << 10 }
    /// How long a takeover waits for an answer of the journal to the follower, before it goes on without a warm state.
    private static var patience: Duration { .seconds(1) }

    /// Begins to follow.
    /// - Parameter warm: where; nil: at the newest snapshot.
    init(
        _ definition: Definition, _ configuration: ReducerNodeConfiguration,
        from warm: consuming WarmState<Definition>?,
        log: NodeLog, isStopping: @escaping @Sendable () -> Bool
    ) {
        state = Monitor(State(warm: warm))
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

    /// As of now.
    var report: FollowingReport { state.withLock { $0.report } }

    /// Ends it.
    func end() {
        state.withLock { $0.isEnding = true }
        state.broadcast()
    }

    /// Ends it.
    /// - Returns: what it has; nil: nothing that a reducer could go on from.
    func handOver() -> WarmState<Definition>? {
        end()
        // What it applies has to be applied in any case. What it reads may never come.
        guard state.wait(until: { $0.isDone || !$0.isReading }, timeout: Self.patience) else { return nil }
        return state.wait(until: { $0.isDone }) { $0.warm.take() }
    }

    // MARK: On the thread

    private func follow(_ read: JournalPlace.Reader) -> WarmState<Definition>? {
        // Taken out: a state that two have is copied when it changes.
        var follower = JournalFollower(
            definition, coder: CBORCoder(), reinterprets: configuration.reinterprets,
            from: state.withLock { $0.warm.take() })
        if let seq = follower.applied?.seq {
            tell("follows the journal from seq \(seq) on, up to which it has led", seq: seq)
            note(follower, nil)
        }
        while !isOver {
            do {
                var journal = try reading { try read(Definition.name) { _ in } }
                defer { journal.close() }
                guard let followed = journal as? any FollowedJournal else {
                    note(follower, "this journal cannot be followed")
                    return nil
                }
                guard try follow(followed, &follower) else { return nil }
            } catch RecoveryError.stopped {
                return nil
            } catch {
                // What it has is not worse for that: the next look compares.
                note(follower, follower.applied == nil ? "\(error)" : nil)
                rest(for: Self.pause)
            }
        }
        return follower.handOver()
    }

    /// - Returns: whether there is more to follow, with the journal opened again.
    private func follow(
        _ journal: any FollowedJournal, _ follower: inout JournalFollower<Definition>
    ) throws -> Bool {
        while !isOver {
            let began = SystemClock.monotonic
            let isStopping = isStopping
            let look = try reading {
                try follower.look(at: journal, bytesMax: Self.pageBytes) { [self] in
                    // The first record of a page: what follows is its application.
                    applies()
                    return isStopping()
                }
            }
            switch look {
            case .begun(let seq):
                state.withLock { [history = journal.history] in $0.report.history = history }
                for note in follower.notes { log.note(.snapshotFailed, note, [.reason(note)]) }
                tell("follows the journal, from seq \(seq) on", seq: seq)
                note(follower, nil)
            case .behind: note(follower, nil)
            case .level:
                note(follower, nil, levelAt: began)
                rest(for: Self.looksEvery)
            case .lost(let reason):
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

    private func reading<Result>(_ body: () throws -> Result) rethrows -> Result {
        state.withLock { $0.isReading = true }
        defer { applies() }
        return try body()
    }

    private func applies() {
        let was = state.withLock { state in
            defer { state.isReading = false }
            return state.isReading
        }
        if was { state.broadcast() }
    }

    private func note(_ follower: JournalFollower<Definition>, _ cold: String?, levelAt: MonotonicTime? = nil) {
        let (applied, lag) = (follower.applied, follower.lag)
        state.withLock { state in
            state.report.coldBecause = cold
            if let applied {
                (state.report.seq, state.report.position) = (applied.seq, applied.position)
            } else {
                state.report.levelAt = nil
            }
            state.report.lag = lag
            if let levelAt { state.report.levelAt = levelAt }
        }
    }

    private func tell(_ text: String, seq: Seq? = nil, level: LogLevel = .notice) {
        log.note(.standby, "standing by: \(text)", seq.map { [.seq($0)] } ?? [], level: level)
    }
}
