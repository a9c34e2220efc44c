/// A type that writes and reads itself, for values so frequent that `Codable`'s own cost counts.
///
/// The bytes are the same deterministic CBOR that ``CBOR`` makes of `Codable` types: a reader cannot tell them apart. Both ways mix freely: a `WireCodable` value may stand in a `Codable` one, and one of a
/// `Codable` type may be written by a ``WireWriter``. A type keeps its `Codable` conformance, which the compiler can go on
/// to derive, for other coders; ``CBOR`` takes the way of this protocol.
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
/// Keys may be written and read in any order; the fastest is that of the encoding, shorter names first, names of one
/// length by their letters.
public protocol WireCodable: Codable {
    /// Writes exactly one value; a value that writes nothing becomes an empty map.
    ///
    /// - Throws: why the value cannot be encoded.
    func encode(to writer: inout WireWriter) throws

    /// Reads what ``encode(to:)-(WireWriter)`` wrote.
    ///
    /// - Throws: what is wrong with the bytes; whatever they are, nothing traps.
    init(from reader: inout WireReader) throws
}
