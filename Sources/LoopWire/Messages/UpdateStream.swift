import CBOR
package import LoopCore

/// A stream of state updates that observers follow: its form, its content and its interval. A topic names it, so that all
/// observers with equal choices share one stream. Nothing is encoded for a stream without followers.
package struct UpdateStream: Hashable, Comparable, Sendable {
    /// The form of a stream's updates.
    package enum Mode: UInt8, Hashable, Sendable {
        /// Each update is a whole state.
        case full = 0x75  // "u"
        /// Each update has the changes since the previous one.
        case delta = 0x64  // "d"
    }

    /// Whether the updates are whole states or deltas.
    package var mode: Mode
    /// The followed section; ``SectionID/whole`` for the whole state.
    package var section: SectionID
    /// The least time between two updates in milliseconds, or 0 for only the reducer's own limit, which always applies.
    package var interval: UInt32

    /// Creates a stream from its parts.
    package init(_ mode: Mode, of section: SectionID = .whole, interval: UInt32 = 0) {
        self.mode = mode
        self.section = section
        self.interval = interval
    }

    /// The order in which the reducer serves streams, equal in every process.
    package static func < (a: UpdateStream, b: UpdateStream) -> Bool {
        (a.section.value, a.mode.rawValue, a.interval) < (b.section.value, b.mode.rawValue, b.interval)
    }
}

/// The ID of a section of the state in topics: a hash of the section's name, or 0 for the whole state.
package struct SectionID: Hashable, Sendable {
    /// FNV-1a (64 bits) of the section's name, which is never 0; 0 for the whole state.
    package var value: UInt64

    /// Creates a section ID from its number in a topic.
    package init(value: UInt64) { self.value = value }

    /// Creates the ID of the section with this name.
    /// - Parameter name: empty for the whole state.
    package init(name: String) { value = name.isEmpty ? 0 : max(1, StableHash.fnv1a(name.utf8)) }

    /// The whole state.
    package static let whole = SectionID(value: 0)
}

/// The changes that turn a base into a later state, or section of it.
///
/// | bytes | field |
/// |---|---|
/// | 8 | from u64: the seq of the transition that made the base |
/// | 8 | through u64, at least from: the seq up to which the base stayed the same |
/// | 8 | seq u64, above through: of the resulting state |
/// | 1 | has a hash |
/// | 8 | hash u64 of that state's encoding (only then) |
/// | 4 + n | the delta: CBOR |
package struct StateDelta: Equatable, Sendable {
    /// The range of seqs at which the state was the base of the delta.
    package var base: ClosedRange<Seq>
    /// The seq of the resulting state, above those of `base`.
    package var seq: Seq
    /// FNV-1a (64 bits) of the canonical bytes of the resulting state, or nil if this delta has none.
    package var hash: UInt64?
    /// The delta in CBOR, as ``Delta/apply(_:to:limits:)`` reads it.
    package var bytes: [UInt8]

    /// Creates a delta from its parts.
    package init(base: ClosedRange<Seq>, seq: Seq, hash: UInt64?, bytes: [UInt8]) {
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
