package import CBOR
import LoopCollections

/// A run of one session's entries, in sequence: PUSH → PULL.
///
/// | bytes | field |
/// |---|---|
/// | 2 | protocol: `4c`, version |
/// | 8 | loop ID u64 |
/// | 2 | shard u16 |
/// | 8 | history u64 |
/// | 8 | session u64 |
/// | 8 | settled u64: every outcome up to this number is known to the sender |
/// | 8 | applied u64: the newest numbered inbox message the sender has applied |
/// | 8 | first u64: the number of the first entry |
/// | 4 | count u32, at least 1 |
/// | … | entries |
package struct Batch: Equatable, Sendable {
    /// The loop that the batch is for. A reducer drops a batch of another loop and counts it as `foreignHistory`.
    package var loop: LoopID
    /// The history that granted the session.
    package var history: History
    /// The session that numbered the entries.
    package var session: SessionID
    /// Every outcome up to this number is known to the sender, so the reducer need not keep it.
    package var settled: UInt64
    /// The newest numbered inbox message that the sender has applied; 0 before the first.
    package var applied: UInt64
    /// The number of the first entry, at least 1; the others follow without gaps.
    package var first: UInt64
    /// The entries, at least 1, in the order of their numbers.
    package var entries: EntryRun

    /// Creates a batch from its parts. A batch that is sent has at least one entry and `first` at least 1.
    package init(
        loop: LoopID, history: History, session: SessionID, settled: UInt64, applied: UInt64, first: UInt64,
        entries: EntryRun
    ) {
        self.loop = loop
        self.history = history
        self.session = session
        self.settled = settled
        self.applied = applied
        self.first = first
        self.entries = entries
    }

    /// Creates a batch from its parts, and encodes the entries.
    package init(
        loop: LoopID, history: History, session: SessionID, settled: UInt64, applied: UInt64, first: UInt64,
        entries: [Entry]
    ) {
        self.init(
            loop: loop, history: history, session: session, settled: settled, applied: applied, first: first,
            entries: EntryRun(entries))
    }

    /// The whole frame, as it is sent over PUSH.
    package var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 56 + entries.byteCount)
        writer.fields(56) {
            $0.protocolVersion()
            $0.append(number: loop.value)
            $0.append(number: Wire.shard)
            $0.append(number: history.value)
            $0.append(number: session.value)
            $0.append(number: settled)
            $0.append(number: applied)
            $0.append(number: first)
            $0.append(number: UInt32(entries.count))
        }
        writer.append(bytes: entries.bytes)
        return writer.bytes
    }

    /// Reads a batch, whose entries share the bytes.
    /// - Throws: `WireError` if the frame is truncated, too long, of another protocol version or shard, or without entries;
    ///   if its numbers start at 0 or overflow; or if an entry is malformed.
    package init(bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        try reader.protocolVersion()
        loop = LoopID(value: try reader.u64())
        try reader.shard()
        history = History(try reader.u64())
        session = SessionID(try reader.u64())
        settled = try reader.u64()
        applied = try reader.u64()
        first = try reader.u64()
        let count = try reader.u32()
        guard count > 0 else { throw .malformed(what: "a batch without entries", offset: reader.position) }
        guard first > 0, first.addingReportingOverflow(UInt64(count)).overflow == false else {
            throw .malformed(what: "entry numbers from \(first)", offset: reader.position)
        }
        entries = try EntryRun(Int(count), from: &reader, in: bytes)
        try reader.end()
    }
}
