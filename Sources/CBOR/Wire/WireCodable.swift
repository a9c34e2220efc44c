/// A type that writes and reads itself, for values so frequent that the cost of `Codable` matters.
///
/// The bytes are the same deterministic CBOR that ``CBOR`` makes of `Codable` types: a reader cannot tell them apart. Both ways mix
/// freely: a `WireCodable` value may be in a `Codable` one, and a ``WireWriter`` may write a `Codable` value. A type keeps its
/// `Codable` conformance, which the compiler can still derive, for other coders. ``CBOR`` uses this protocol.
///
///     extension Film: WireCodable {
///         func encode(to writer: inout WireWriter) {
///             writer.map { film in
///                 film.write("id", id)
///                 film.write("title", title)
///             }
///         }
///
///         init(from reader: inout WireReader) throws {
///             let film = try reader.map()
///             id = try film.read("id")
///             title = try film.read("title")
///         }
///     }
///
/// Keys may be written and read in any order. The fastest is that of the encoding: shorter names first, names of one length by
/// their letters.
public protocol WireCodable: Codable {
    /// Writes exactly one value. A value that writes nothing becomes an empty map.
    ///
    /// - Throws: any error, if the value cannot be encoded.
    func encode(to writer: inout WireWriter) throws

    /// Reads what ``encode(to:)-(WireWriter)`` wrote.
    ///
    /// - Throws: any error, if the bytes are not such a value. No bytes may make it trap.
    init(from reader: inout WireReader) throws
}
