public import CBOR

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
public struct Batch: Equatable, Sendable {
    public var loop: LoopID
    public var history: History
    public var session: SessionID
    public var settled: UInt64
    public var applied: UInt64
    public var first: UInt64
    public var entries: EntryRun

    public init(
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

    public init(
        loop: LoopID, history: History, session: SessionID, settled: UInt64, applied: UInt64, first: UInt64,
        entries: [Entry]
    ) {
        self.init(
            loop: loop, history: history, session: session, settled: settled, applied: applied, first: first,
            entries: EntryRun(entries))
    }

    public var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 56 + entries.byteCount)
        writer.protocolVersion()
        writer.u64(loop.value)
        writer.u16(Wire.shard)
        writer.u64(history.value)
        writer.u64(session.value)
        writer.u64(settled)
        writer.u64(applied)
        writer.u64(first)
        writer.u32(UInt32(entries.count))
        writer.append(bytes: entries.bytes)
        return writer.bytes
    }

    /// Reads a batch; its entries stay in the bytes.
    public init(bytes: [UInt8]) throws(WireError) {
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
