import CBOR
package import LoopCollections
package import LoopCore
import LoopWire

/// The reducer's present step, in a few words of memory that survive the process. It is written before an event is decoded,
/// reduced and queried, and cleared afterwards. If the next start finds a step, the process died in it. (Protocol, section 7.)
///
///     enter ──▶ decoding ──▶ reducing ──▶ queries ──▶ leave          after it: a table of suspects, with counts
///
/// The system keeps a file that is mapped into memory when the process dies, without a sync. One thread writes.
package struct CrashNote: Sendable {
    /// The size of a note in bytes: one page.
    package static let byteCount = 4096
    /// The offset, in bytes, at which a signal handler writes what ended the process. The signal's number is in the upper half
    /// of the word, the thread's in the lower.
    package static let faultOffset = 8 * Word.fault.rawValue

    /// The words of 64 bits at the beginning; the suspects follow.
    enum Word: Int {
        case magic, history, executable, thread, fault
        case kind, step, session, number, effect, effectSeq, hash, position, seq
        case replayPosition, replayCrashes
    }

    /// The number of an event's first bytes that the note keeps.
    private static let eventBytesMax = 64
    /// The index of the word with the event's size, after the suspects; its first bytes follow.
    private static let event = first + suspectsMax * wordsEach

    /// The kind of work that is going on.
    enum Kind: UInt64 {
        case nothing = 0
        /// An entry is being applied or, in session 0, a quarantined event is being tried again.
        case entry = 1
        /// An entry of an effect is being applied.
        case effectEntry = 2
        /// A record of the journal is being applied again.
        case replay = 3
    }

    /// "LoopNote", with the version of this layout in the last byte.
    static let magic: UInt64 = 0x4c6f_6f70_4e6f_7401

    private let words: SharedWords

    /// - Parameter words: at least `byteCount` bytes: zeros, or what an earlier note wrote there.
    package init(_ words: SharedWords) {
        precondition(words.count >= Self.byteCount / 8, "a crash note of \(words.count) words")
        self.words = words
    }

    /// Creates a note that ends with the process.
    package init() { self.init(SharedWords(count: Self.byteCount / 8)) }

    /// Writes that an entry is about to be decoded, reduced and queried.
    func enter(_ session: SessionID, _ number: UInt64, _ effect: EffectID?, _ payload: ArraySlice<UInt8>) {
        self[.session] = session.value
        self[.number] = number
        self[.step] = UInt64(QuarantineRecord.Phase.decoding.rawValue)
        self[.hash] = StableHash.quick(payload)
        self[at: Self.event] = UInt64(payload.count)
        var (word, count) = (0 as UInt64, 0)
        for byte in payload.prefix(Self.eventBytesMax) {
            word |= UInt64(byte) << UInt64(count % 8 * 8)
            count += 1
            if count % 8 == 0 {
                self[at: Self.event + count / 8] = word
                word = 0
            }
        }
        if count % 8 != 0 { self[at: Self.event + count / 8 + 1] = word }
        if let effect {
            self[.effect] = UInt64(effect.feedback) << 32 | UInt64(effect.index)
            self[.effectSeq] = effect.seq.value
            self[.kind] = Kind.effectEntry.rawValue
        } else {
            self[.kind] = Kind.entry.rawValue
        }
    }

    /// The event that was entered last, briefly described for people.
    package var eventText: String { EventText.of(eventStart, of: Int(clamping: self[at: Self.event])) }

    /// The first bytes of the event that was entered last.
    private var eventStart: [UInt8] {
        (0..<min(Int(clamping: self[at: Self.event]), Self.eventBytesMax)).map { index in
            UInt8(truncatingIfNeeded: self[at: Self.event + 1 + index / 8] >> UInt64(index % 8 * 8))
        }
    }

    /// Writes that a record of the journal is about to be applied again.
    /// - Parameters:
    ///   - position: the record's position.
    ///   - seq: the seq of its event.
    package func enterReplay(position: UInt64, seq: Seq) {
        self[.position] = position
        self[.seq] = seq.value
        self[.step] = UInt64(QuarantineRecord.Phase.decoding.rawValue)
        self[.kind] = Kind.replay.rawValue
    }

    /// Writes the step that begins.
    func step(_ phase: QuarantineRecord.Phase) { self[.step] = UInt64(phase.rawValue) }

    /// Where the positions of queries are written, above the step.
    var queryMark: QueryMark {
        QueryMark(words, at: Word.step.rawValue, base: QuarantineRecord.Phase.query.rawValue)
    }

    /// Writes that the queries are over. What follows from the event, such as grants, is no step of its own in a crash note.
    func endQueries() { self[.step] = UInt64(QuarantineRecord.Phase.query.rawValue) | Self.queriesHaveEnded }

    private static let queriesHaveEnded = UInt64(1) << 63

    /// A step of the reducer's thread, as another thread sees it.
    package struct Step: Equatable, Sendable {
        package let phase: QuarantineRecord.Phase
        /// The name of the event's case, or nil if its bytes do not show one.
        package let event: String?
        /// The position of the query among all queries, if the phase is one.
        package let query: Int
    }

    /// What the reducer's thread does at present with an event, or nil if it does something else. Any thread may ask.
    package var present: Step? {
        let words: [Word] = [.kind, .step, .session, .number, .hash]
        let before = words.map { self[$0] }
        let isEvent = before[0] == Kind.entry.rawValue || before[0] == Kind.effectEntry.rawValue
        guard isEvent, before[1] & Self.queriesHaveEnded == 0 else { return nil }
        let event = EventText.caseName(of: eventStart)
        // The thread has gone on meanwhile, and the event may be a mixture of two.
        guard words.map({ self[$0] }) == before else { return nil }
        return Step(phase: QuarantineRecord.Phase(word: before[1]), event: event, query: Int(before[1] >> 8))
    }

    /// Clears the note, because the work is done. A later end of the process has another cause.
    package func leave() { self[.kind] = Kind.nothing.rawValue }

    subscript(word: Word) -> UInt64 {
        get { self[at: word.rawValue] }
        nonmutating set { self[at: word.rawValue] = newValue }
    }

    subscript(at index: Int) -> UInt64 {
        get { words[index] }
        nonmutating set { words[index] = newValue }
    }

    /// The bytes of the whole note.
    package var bytes: [UInt8] {
        get { words.bytes }
        nonmutating set { words.bytes = newValue }
    }

    /// Writes what a signal handler writes.
    package func fault(signal: UInt64, thread: UInt64) { self[.fault] = signal << 32 | thread }
}

/// Describes an encoded event in a few words, for people, by its case and the beginning of its value. It does not use the
/// definition, which may have ended the process when it decoded these bytes.
package enum EventText {
    /// The longest text of an event, in characters.
    private static let charactersMax = 80

    /// - Parameters:
    ///   - bytes: the first bytes of the event.
    ///   - count: the number of bytes of the whole event.
    package static func of(_ bytes: some Collection<UInt8>, of count: Int) -> String {
        let bytes = Array(bytes)
        if bytes.count == count, let text = try? CBOR.json(bytes) {
            return text.count > charactersMax ? "\(text.prefix(charactersMax - 1))…" : text
        }
        // Some bytes are no event, such as the message of a failure.
        if let text = String(validating: bytes, as: UTF8.self), text.allSatisfy({ $0.isASCII && $0 >= " " }) {
            return "\"\(text)\""
        }
        if let name = firstKey(bytes) { return "{\"\(name)\":…}" }
        return "\(count) bytes: \(bytes.prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())"
    }

    /// The name of an event's case, or nil if the bytes show none. An enumeration is a map of one pair; the first key of a larger map
    /// says nothing about the event.
    /// - Parameter bytes: the event, or its first bytes.
    package static func caseName(of bytes: some Collection<UInt8>) -> String? {
        bytes.first == 0xa1 ? firstKey(Array(bytes.prefix(26))) : nil
    }

    /// The first key of a map, which names the case of an enumeration, or nil if it is no map or the key is cut.
    private static func firstKey(_ bytes: [UInt8]) -> String? {
        guard bytes.count > 2, (0xa1...0xb7).contains(bytes[0]), (0x60...0x77).contains(bytes[1]) else { return nil }
        let length = Int(bytes[1] - 0x60)
        guard bytes.count >= 2 + length else { return nil }
        let key = String(validating: bytes[2..<(2 + length)], as: UTF8.self)
        return key.flatMap { $0.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } ? $0 : nil }
    }
}
