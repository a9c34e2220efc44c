import CBOR
public import LoopCore

/// Which updates of the state somebody follows: how they are written, of what, and how often. A topic names it, so that all
/// who choose the same share the work, and nothing is made that nobody follows.
public struct UpdateStream: Hashable, Comparable, Sendable {
    /// How the updates of a stream are written.
    public enum Mode: UInt8, Hashable, Sendable {
        /// Each is a whole state.
        case full = 0x75  // "u"
        /// Each says what has changed since the one before.
        case delta = 0x64  // "d"
    }

    public var mode: Mode
    public var section: SectionID
    /// How many milliseconds there are between two updates, at least; the reducer's own limit stands beside it.
    public var interval: UInt32

    public init(_ mode: Mode, of section: SectionID = .whole, interval: UInt32 = 0) {
        self.mode = mode
        self.section = section
        self.interval = interval
    }

    /// An order in which streams are served.
    public static func < (a: UpdateStream, b: UpdateStream) -> Bool {
        (a.section.value, a.mode.rawValue, a.interval) < (b.section.value, b.mode.rawValue, b.interval)
    }
}

/// Names a section of the state in topics: a hash of its name, and 0 for the whole state.
public struct SectionID: Hashable, Sendable {
    public var value: UInt64

    public init(value: UInt64) { self.value = value }

    /// - Parameter name: empty for the whole state.
    public init(name: String) { value = name.isEmpty ? 0 : max(1, StableHash.fnv1a(name.utf8)) }

    /// The whole state.
    public static let whole = SectionID(value: 0)
}

/// What has changed in the state, or in a section of it.
///
/// | bytes | field |
/// |---|---|
/// | 8 | from u64: the seq at which the state came to be that the delta is to |
/// | 8 | through u64, at least from: the seq up to which it stayed the same |
/// | 8 | seq u64, above through: of the state that the delta makes |
/// | 1 | has a hash |
/// | 8 | hash u64 of that state's encoding (only then) |
/// | 4 + n | the delta: CBOR |
public struct StateDelta: Equatable, Sendable {
    /// The seqs at all of which the state was the one that the delta is to.
    public var base: ClosedRange<Seq>
    public var seq: Seq
    /// FNV-1a of the canonical bytes of the state that it makes.
    public var hash: UInt64?
    public var bytes: [UInt8]

    public init(base: ClosedRange<Seq>, seq: Seq, hash: UInt64?, bytes: [UInt8]) {
        self.base = base
        self.seq = seq
        self.hash = hash
        self.bytes = bytes
    }

    func write(to writer: inout ByteWriter) {
        writer.seqs(base)
        writer.u64(seq.value)
        writer.u8(hash == nil ? 0 : 1)
        if let hash { writer.u64(hash) }
        writer.prefixed(bytes[...])
    }

    init(from reader: inout ByteReader) throws(WireError) {
        base = try reader.seqs()
        seq = Seq(try reader.u64())
        guard seq > base.upperBound else {
            throw .malformed(what: "a delta from \(base.upperBound) to \(seq)", offset: reader.position)
        }
        hash = try reader.flag() ? try reader.u64() : nil
        bytes = Array(try reader.prefixed())
    }
}

extension ByteWriter {
    mutating func seqs(_ seqs: ClosedRange<Seq>) {
        u64(seqs.lowerBound.value)
        u64(seqs.upperBound.value)
    }
}

extension ByteReader {
    mutating func seqs() throws(WireError) -> ClosedRange<Seq> {
        let first = Seq(try u64())
        let last = Seq(try u64())
        guard first <= last else { throw .malformed(what: "seqs from \(first) to \(last)", offset: position) }
        return first...last
    }
}
