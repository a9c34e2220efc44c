package import LoopCore
import LoopWire
import Synchronization

/// What the reducer is doing at this moment, in a few words of memory that survive the process: before an event is
/// decoded, reduced and asked about it is written here, afterwards it is cleared. Whatever stands here at the next start
/// is what the process died of. (Protocol, section 7.)
///
///     enter ──▶ decoding ──▶ reducing ──▶ queries ──▶ leave          beside it: a table of suspects, with counts
///
/// The memory belongs to whoever made the note and must outlive it; a file mapped into memory is kept by the system when
/// the process dies, without a sync. One thread writes. The stores are atomic, so that none is left out or moved behind a
/// trap as useless; they cost what plain ones do.
public struct CrashNote: @unchecked Sendable {
    /// How much memory a note takes: one page.
    public static let byteCount = 4096
    /// Where, in bytes from the start, a signal handler leaves what ended the process: the signal's number in the upper
    /// half, the thread's in the lower.
    public static let faultOffset = 8 * Word.fault.rawValue

    /// The words of 64 bits at the beginning; the suspects follow.
    enum Word: Int {
        case magic, history, executable, thread, fault
        case kind, step, session, number, effect, effectSeq, hash, position, seq
        case replayPosition, replayCrashes
    }

    /// What is going on.
    enum Kind: UInt64 {
        case nothing = 0
        /// An entry is being applied, or, in session 0, a quarantined event is tried again.
        case entry = 1
        /// An entry on behalf of an effect.
        case effectEntry = 2
        /// A record of the journal is being applied again.
        case replay = 3
    }

    /// "LoopNote", and the version of this layout in the last byte.
    static let magic: UInt64 = 0x4c6f_6f70_4e6f_7401

    private let words: UnsafeMutablePointer<Atomic<UInt64>>

    /// - Parameter memory: at least `byteCount` bytes, aligned to 8; zeros, or what an earlier note left there.
    public init(_ memory: UnsafeMutableRawBufferPointer) {
        guard memory.count >= Self.byteCount, let base = memory.baseAddress, UInt(bitPattern: base) % 8 == 0 else {
            preconditionFailure("a crash note needs \(Self.byteCount) aligned bytes, and was given \(memory.count)")
        }
        words = base.bindMemory(to: Atomic<UInt64>.self, capacity: Self.byteCount / 8)
    }

    /// An entry is about to be decoded, reduced and asked about.
    func enter(_ session: SessionID, _ number: UInt64, _ effect: EffectID?, _ payload: ArraySlice<UInt8>) {
        self[.session] = session.value
        self[.number] = number
        self[.step] = UInt64(QuarantineRecord.Phase.decoding.rawValue)
        self[.hash] = StableHash.quick(payload)
        if let effect {
            self[.effect] = UInt64(effect.feedback) << 32 | UInt64(effect.index)
            self[.effectSeq] = effect.seq.value
            self[.kind] = Kind.effectEntry.rawValue
        } else {
            self[.kind] = Kind.entry.rawValue
        }
    }

    /// A record of the journal is about to be applied again.
    /// - Parameters:
    ///   - position: its own.
    ///   - seq: of its event.
    package func enterReplay(position: UInt64, seq: Seq) {
        self[.position] = position
        self[.seq] = seq.value
        self[.step] = UInt64(QuarantineRecord.Phase.decoding.rawValue)
        self[.kind] = Kind.replay.rawValue
    }

    /// How far it has come.
    func step(_ phase: QuarantineRecord.Phase) { self[.step] = UInt64(phase.rawValue) }

    /// It is done; whatever ends the process now was not this.
    package func leave() { self[.kind] = Kind.nothing.rawValue }

    subscript(word: Word) -> UInt64 {
        get { self[at: word.rawValue] }
        nonmutating set { self[at: word.rawValue] = newValue }
    }

    subscript(at index: Int) -> UInt64 {
        get { words[index].load(ordering: .relaxed) }
        nonmutating set { words[index].store(newValue, ordering: .releasing) }
    }
}
