package import LoopCore
package import LoopWire

/// The beginning of a snapshot, which describes it and can be read without the definition.
///
/// | bytes | field |
/// |---|---|
/// | 8 | "LOOPSNAP" |
/// | 2 | format version u16: 7 if effects are in traces, else 6 if there are schedules, else 5 |
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
    package static var formatVersion: UInt16 { Parts.traces.rawValue }
    private static var magic: [UInt8] { Array("LOOPSNAP".utf8) }
    private static var checksumBytes: Int { 8 }

    package var loop: String
    package var history: History
    package var position: UInt64
    package var seq: Seq
    package var fingerprint: UInt64
    package var schema: UInt64
    package var initial: UInt64
    /// How the body ends.
    fileprivate(set) var parts = Parts.least

    /// How a body ends. The raw values are versions of the format, each of which adds a part to those of the one before.
    enum Parts: UInt16, Comparable, Sendable {
        case least = 5
        case schedules = 6
        case traces = 7

        static func < (a: Parts, b: Parts) -> Bool { a.rawValue < b.rawValue }
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
        writer.u16(parts.rawValue)
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
            guard let parts = Parts(rawValue: version) else {
                throw SnapshotError.corrupt("its format is \(version), which no release has written")
            }
            var header = SnapshotHeader(
                loop: try reader.string(), history: History(try reader.u64()), position: try reader.u64(),
                seq: Seq(try reader.u64()), fingerprint: try reader.u64(), schema: try reader.u64(),
                initial: try reader.u64())
            header.parts = parts
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

/// A snapshot cannot be made, or the loop cannot continue from it.
package enum SnapshotError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The bytes are not those that were written.
    case corrupt(String)
    /// It was written by a newer release in a form that this one does not know.
    case newerFormat(UInt16)
    /// It is of another loop.
    case otherLoop(snapshot: String, binary: String)
    /// It is of another run.
    case otherArguments(OtherArguments)
    /// Its state is older than the definition can migrate.
    case schemaTooOld(snapshot: UInt64, oldest: Int, binary: Int)
    /// Its state is newer than the definition.
    case schemaTooNew(snapshot: UInt64, binary: Int)
    /// Its state cannot be read: decoding or `migrateState` threw.
    case unreadableState(seq: Seq, schema: UInt64, reason: String)
    /// The state, or what a query remembers, cannot be encoded.
    case unencodable(String)
    /// This definition has not taken over: it has no definition record yet, and another definition's queries still count.
    case notTakenOver

    /// The error and its remedy in one line, for people.
    package var description: String {
        switch self {
        case .corrupt(let what): "the snapshot is damaged: \(what)"
        case .newerFormat(let version):
            "the snapshot is of format \(version), this release reads formats up to \(SnapshotHeader.formatVersion); start a newer"
                + " release"
        case .otherLoop(let snapshot, let binary): "the snapshot is of the loop \"\(snapshot)\", this is \"\(binary)\""
        case .otherArguments(let other): "\(other)"
        case .schemaTooOld(let snapshot, let oldest, let binary):
            "the snapshot has schema \(snapshot); this build has schema \(binary) and migrates states from schema"
                + " \(oldest) on: start a build that reads schema \(snapshot) and has schema \(oldest) or newer, stop it"
                + " with SIGTERM, then start this one"
        case .schemaTooNew(let snapshot, let binary):
            "the snapshot has schema \(snapshot), this build has schema \(binary): start the newer build, or one of before"
                + " the change on a backup of the journal"
        case .unreadableState(let seq, let schema, let reason):
            "the state of schema \(schema) at seq \(seq) cannot be read: \(reason); where State or its encoding has"
                + " changed, raise `schema` and say in `migrateState` how the old one is read"
        case .unencodable(let reason): "a snapshot cannot be made: \(reason)"
        case .notTakenOver: "a snapshot cannot be made before this definition has taken over; begin an epoch first"
        }
    }
}
