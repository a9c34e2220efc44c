package import LoopCore
package import LoopWire

/// What a crash note says at a start about the end of the last process.
package enum CrashFinding: Equatable, Sendable {
    /// It ended outside the reduction of an entry, or there was no such process.
    case nothing
    /// It ended in the reduction of an entry.
    case suspect(Suspect)
    /// It ended when an operator tried this quarantined event again. The event stays in quarantine.
    case retry(quarantined: UInt64)
    /// It ended in the replay of an event that had once been applied.
    case replay(ReplayCrash)
    /// A signal ended it in code that is not attributed to an entry.
    case fault(signal: Int32, onReducerThread: Bool)
}

/// The process ended while it replayed an event. The event is part of the loop's past and is never set aside. A build that can
/// replay it is needed.
package struct ReplayCrash: Equatable, Sendable {
    /// The position of the event's record.
    package var position: UInt64
    /// The seq of the event.
    package var seq: Seq
    /// The step of the replay in which the process ended.
    package var phase: QuarantineRecord.Phase
    /// Whether to stop, because this executable ended in the event before, and would again.
    package var mustStop: Bool
}

extension CrashNote {
    /// The start stops after this many ends at one position that no signal explains, such as those for lack of memory.
    private static let replayCrashesMax: UInt64 = 3

    /// Begins a new process: reads what the note says of the last one, and clears the note.
    /// - Parameters:
    ///   - history: the history that the journal began with. A note of another journal is void.
    ///   - executable: a number of the program's file. Another build has another number.
    ///   - thread: the reducer's thread. Faults of other threads are not attributed to entries.
    package func begin(history: History, executable: UInt64, thread: UInt32) -> CrashFinding {
        if self[.magic] != Self.magic || self[.history] != history.value {
            for index in 0..<(Self.byteCount / 8) { self[at: index] = 0 }
            self[.history] = history.value
            self[.magic] = Self.magic
        }
        let finding = judge(executable)
        if case .replay(let crash) = finding, crash.mustStop { return finding }
        leave()
        self[.fault] = 0
        self[.executable] = executable
        self[.thread] = UInt64(thread)
        return finding
    }

    private func judge(_ executable: UInt64) -> CrashFinding {
        let signal = Int32(truncatingIfNeeded: self[.fault] >> 32)
        let isOwnFault = self[.fault] & 0xffff_ffff == self[.thread]
        let kind = Kind(rawValue: self[.kind]) ?? .nothing
        guard kind != .nothing, signal == 0 || isOwnFault else {
            return signal == 0 ? .nothing : .fault(signal: signal, onReducerThread: isOwnFault)
        }
        let phase = QuarantineRecord.Phase(word: self[.step])
        if kind == .replay { return .replay(judgeReplay(executable, phase, isFault: signal != 0)) }
        let isOfEffect = kind == .effectEntry
        let found = blame(
            Suspect(
                session: SessionID(self[.session]), number: self[.number],
                effect: isOfEffect ? EffectID(words: self[.effect], self[.effectSeq]) : nil,
                hash: self[.hash], phase: phase, crashes: 0))
        return found.isRetry ? .retry(quarantined: found.number) : .suspect(found)
    }

    /// Judges the end of a replay. A kill from outside also ends a replay, at any position. Only a fault, or the same position
    /// again and again, shows that the event is the cause.
    private func judgeReplay(
        _ executable: UInt64, _ phase: QuarantineRecord.Phase, isFault: Bool
    ) -> ReplayCrash {
        var crash = ReplayCrash(
            position: self[.position], seq: Seq(self[.seq]), phase: phase, mustStop: false)
        guard executable == self[.executable] else {
            self[.replayCrashes] = 0
            return crash
        }
        let crashes = self[.replayPosition] == crash.position ? self[.replayCrashes] &+ 1 : 1
        if isFault || crashes >= Self.replayCrashesMax {
            crash.mustStop = true
        } else {
            self[.replayPosition] = crash.position
            self[.replayCrashes] = crashes
        }
        return crash
    }
}
