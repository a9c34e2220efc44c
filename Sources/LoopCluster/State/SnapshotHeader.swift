package import LoopCore
package import LoopWire

/// The beginning of a snapshot, which describes it and can be read without the definition.
///
/// | bytes | field |
/// |---|---|
/// | 8 | "LOOPSNAP" |
/// | 2 | format version u16: 6 if there are schedules, else 5; 1 to 4 are read too |
/// | 4 + n | loop name |
/// | 8 | history u64 |
/// | 8 | position u64 of the last record that it covers |
/// | 8 | seq u64 |
/// | 8 | fingerprint u64 of the definition that made it |
/// | 8 | schema u64 of the state |
/// | 8 | hash u64 of the encoded initial state of the run |
/// | 8 | length u64 of the body |
///
/// The body follows, then 8 bytes: the FNV-1a hash (64 bits) of everything before them. All numbers are little-endian.
package struct SnapshotHeader: Equatable, Sendable {
    package static var formatVersion: UInt16 { 6 }
    /// The format of loops without schedules.
    private static var formatWithoutSchedules: UInt16 { 5 }
    private static var magic: [UInt8] { Array("LOOPSNAP".utf8) }
    private static var checksumBytes: Int { 8 }

    package var loop: String
    package var history: History
    package var position: UInt64
    package var seq: Seq
    package var fingerprint: UInt64
    package var schema: UInt64
    package var initial: UInt64
    /// The format in which it was written.
    package private(set) var format: UInt16

    package init(
        loop: String, history: History, position: UInt64, seq: Seq, fingerprint: UInt64, schema: UInt64,
        initial: UInt64, hasSchedules: Bool = false
    ) {
        self.loop = loop
        self.history = history
        self.position = position
        self.seq = seq
        self.fingerprint = fingerprint
        self.schema = schema
        self.initial = initial
        format = hasSchedules ? Self.formatVersion : Self.formatWithoutSchedules
    }

    /// The whole document, in one chunk of memory.
    /// - Parameters:
    ///   - bodyBytes: about how many bytes the body will have.
    ///   - writeBody: appends the body.
    func document<Failure: Error>(
        bodyBytes: Int, _ writeBody: (inout ByteWriter) throws(Failure) -> Void
    ) throws(Failure) -> [UInt8] {
        var writer = ByteWriter(capacity: bodyBytes + bodyBytes / 8 + loop.utf8.count + 128)
        writer.append(bytes: Self.magic)
        writer.u16(format)
        writer.string(loop)
        writer.u64(history.value)
        writer.u64(position)
        writer.u64(seq.value)
        writer.u64(fingerprint)
        writer.u64(schema)
        writer.u64(initial)
        let length = writer.count
        writer.u64(0)
        try writeBody(&writer)
        writer.replace(at: length, with: UInt64(writer.count - length - 8))
        writer.u64(StableHash.fnv1a(writer.bytes))
        return writer.bytes
    }

    /// Reads the header of a document, and checks that its bytes are those that were written.
    /// - Throws: `SnapshotError.corrupt` or `SnapshotError.newerFormat`.
    package static func read(_ document: [UInt8]) throws(SnapshotError) -> (
        header: SnapshotHeader, body: ArraySlice<UInt8>
    ) {
        guard document.count > magic.count + checksumBytes, document.starts(with: magic) else {
            throw .corrupt("it does not begin as a snapshot does")
        }
        let content = document[..<(document.count - checksumBytes)]
        do {
            var end = ByteReader(document[content.endIndex...])
            guard try end.u64() == StableHash.fnv1a(content) else {
                throw SnapshotError.corrupt("its checksum differs")
            }
            var reader = ByteReader(content.dropFirst(magic.count))
            let version = try reader.u16()
            guard version <= formatVersion else { throw SnapshotError.newerFormat(version) }
            var header = SnapshotHeader(
                loop: try reader.string(), history: History(try reader.u64()), position: try reader.u64(),
                seq: Seq(try reader.u64()), fingerprint: try reader.u64(), schema: try reader.u64(),
                initial: try reader.u64())
            header.format = version
            guard try reader.u64() == UInt64(reader.remaining) else {
                throw SnapshotError.corrupt("it is not as long as it says")
            }
            return (header, reader.rest)
        } catch let error as SnapshotError {
            throw error
        } catch {
            throw .corrupt("\(error)")
        }
    }
}
