package import LoopCore
package import LoopWire

/// An event in whose reduction the process ended. After the first time, it is reduced alone when it comes again. After the
/// second time, it is set aside.
package struct Suspect: Equatable, Sendable {
    /// The session of the entry, or `.none` for a quarantined event that an operator tried again, and for a timer's.
    package var session: SessionID
    /// The entry's number in its session, or the ID of the quarantined event; 0 for a timer's event.
    package var number: UInt64
    /// The effect that sent the entry, or nil if a sender did.
    package var effect: EffectID?
    /// A hash of the event's bytes. For a schedule's run or a last failure, a hash of a constant text.
    package var hash: UInt64
    /// The step in which the process last ended.
    package var phase: QuarantineRecord.Phase
    /// How often the process ended in the event.
    package var crashes: UInt32

    /// An entry is set aside after this many crashes.
    static let crashesMax: UInt32 = 2

    /// Whether another suspect is this event: its bytes are equal, and both are of one effect, or both of a sender.
    ///
    /// Sessions do not count: a worker in the reducer's process comes back under another session, and each call of `loopctl
    /// send` has its own. Entry numbers do not count either: a journal that lost its end, or that was restored from a backup,
    /// assigns session numbers again, to other peers. Events without a session (a schedule's run, an operator's retry) are
    /// compared by number.
    func isSame(as other: Suspect) -> Bool {
        hash == other.hash && effect == other.effect && isOfSameKind(other.number, of: other.session)
    }

    func isSame(as entry: Entry, _ number: UInt64, of session: SessionID) -> Bool {
        effect == entry.effect && isOfSameKind(number, of: session) && hash == StableHash.quick(entry.payload)
    }

    private func isOfSameKind(_ number: UInt64, of session: SessionID) -> Bool {
        if effect != nil { return true }
        return (self.session == .none) == (session == .none) && (session != .none || self.number == number)
    }

    /// Whether it is the event of a schedule's run, which comes again by itself.
    var isOfSchedule: Bool { session == .none && number == EntryNumber.ofTimers.number && effect == nil }

    /// Whether an operator tried a quarantined event again. The number is that of the quarantine. A timer's event has no number.
    var isRetry: Bool { session == .none && number != EntryNumber.ofTimers.number }
}

/// The suspects in a crash note, in a table of a fixed size after its first words.
extension CrashNote {
    /// How many suspects are remembered. A new one replaces the oldest.
    package static let suspectsMax = 16
    static let first = 16
    static let wordsEach = 8

    /// The suspects, the oldest first.
    package var suspects: [Suspect] {
        slots.filter { self[at: $0] > 0 }.sorted { self[at: $0 + 7] < self[at: $1 + 7] }.map { self.suspect(at: $0) }
    }

    /// Counts one more crash of an entry.
    /// - Returns: the suspect, with its crashes so far.
    func blame(_ found: Suspect) -> Suspect {
        let known = slots.first { self[at: $0] > 0 && suspect(at: $0).isSame(as: found) }
        let free = slots.first { self[at: $0] == 0 }
        guard let slot = known ?? free ?? slots.min(by: { self[at: $0 + 7] < self[at: $1 + 7] }) else { return found }
        var blamed = found
        // The count never wraps to 0, which marks a free slot.
        blamed.crashes = known.map { UInt32(clamping: self[at: $0]).saturatingSuccessor } ?? 1
        let order = (slots.map { self[at: $0 + 7] }.max() ?? 0) &+ 1
        self[at: slot + 1] = UInt64(blamed.phase.rawValue) | (blamed.effect == nil ? 0 : 1 << 8)
        self[at: slot + 2] = blamed.session.value
        self[at: slot + 3] = blamed.number
        self[at: slot + 4] = blamed.effect.map { UInt64($0.feedback) << 32 | UInt64($0.index) } ?? 0
        self[at: slot + 5] = blamed.effect?.seq.value ?? 0
        self[at: slot + 6] = blamed.hash
        self[at: slot + 7] = order
        self[at: slot] = UInt64(blamed.crashes)
        return blamed
    }

    /// Forgets a suspect that has survived, or was set aside.
    func strike(_ suspect: Suspect) {
        for slot in slots where self[at: slot] > 0 && self.suspect(at: slot).isSame(as: suspect) { self[at: slot] = 0 }
    }

    private var slots: StrideTo<Int> {
        stride(from: Self.first, to: Self.first + Self.suspectsMax * Self.wordsEach, by: Self.wordsEach)
    }

    private func suspect(at slot: Int) -> Suspect {
        let flags = self[at: slot + 1]
        let effect = flags & (1 << 8) == 0 ? nil : EffectID(words: self[at: slot + 4], self[at: slot + 5])
        return Suspect(
            session: SessionID(self[at: slot + 2]), number: self[at: slot + 3], effect: effect,
            hash: self[at: slot + 6], phase: QuarantineRecord.Phase(word: flags & 0xff),
            crashes: UInt32(clamping: self[at: slot]))
    }
}

extension UInt32 {
    fileprivate var saturatingSuccessor: UInt32 { self == .max ? self : self + 1 }
}

extension EffectID {
    /// Reads an effect from the words of a note.
    init(words numbers: UInt64, _ seq: UInt64) {
        self.init(
            feedback: UInt32(truncatingIfNeeded: numbers >> 32), seq: Seq(seq),
            index: UInt32(truncatingIfNeeded: numbers))
    }
}

extension QuarantineRecord.Phase {
    /// Reads a phase from a note. An unknown one counts as reducing.
    init(word: UInt64) { self = Self(rawValue: UInt8(truncatingIfNeeded: word)) ?? .reducing }
}
