// Unsafe: the bytes of an array are read in place. The array is kept until the document is closed.

/// Concise Binary Object Representation (RFC 8949) for any `Codable` type, always in the deterministic encoding of section 4.2.1:
/// equal values have equal bytes in every process.
///
/// | Swift | CBOR |
/// |---|---|
/// | struct, class (keyed container) | map with text keys, ascending by their encoded bytes |
/// | enum as the compiler derives it | map of one entry: the case's name, then a map of its values |
/// | `Dictionary` | map; keys are text for String, integers for Int, else whatever the key encodes to |
/// | `Set` | array, ascending by the elements' encoded bytes |
/// | `[UInt8]` | byte string |
/// | `Optional` | null or the value; an optional directly in an optional is in an array of one |
/// | `Double`, `Float` | the shortest of three forms that keeps the value; one NaN; −0.0 is kept |
///
/// Reading is more lenient than writing. It accepts any well-formed encoding, keys in any order, and null for an absent optional.
/// It also accepts integers for floats, arrays of integers for byte strings, and decimal text keys for integer ones. It skips
/// unknown keys and tags. It is strict about duplicate keys, invalid UTF-8 and trailing bytes.
package enum CBOR {
    /// The deterministic encoding of a value.
    ///
    /// - Parameters:
    ///   - value: the value to encode.
    ///   - limits: how deep the value may be nested, and how long its encoding may be.
    ///   - userInfo: the `userInfo` of the encoder that the value's `encode(to:)` gets. Empty by default.
    /// - Throws: ``WireError/tooDeep(limit:offset:)`` and ``WireError/tooLarge(what:size:limit:)`` beyond the limits.
    ///   ``WireError/refused(path:why:)`` if the value's `encode(to:)` throws or makes a mistake.
    package static func encode<T: Encodable>(
        _ value: T, limits: CBORLimits = .default, userInfo: [CodingUserInfoKey: any Sendable]? = nil
    ) throws(WireError) -> [UInt8] {
        let core = EncodingCore.begin(limits, userInfo)
        defer { core.end() }
        try write(value, core, limits)
        return core.written()
    }

    /// Lends the deterministic encoding of a value without a copy.
    package static func withEncoding<T: Encodable>(
        of value: T, limits: CBORLimits = .default, userInfo: [CodingUserInfoKey: any Sendable]? = nil,
        _ body: (Span<UInt8>) -> Void
    ) throws(WireError) {
        let core = EncodingCore.begin(limits, userInfo)
        defer { core.end() }
        try write(value, core, limits)
        unsafe body(UnsafeBufferPointer(start: core.log.base, count: core.log.count).span)
    }

    private static func write<T: Encodable>(
        _ value: T, _ core: EncodingCore, _ limits: CBORLimits
    ) throws(WireError) {
        do {
            try core.encode(value, at: .top)
        } catch {
            throw WireError(encoding: error)
        }
        guard core.log.count <= limits.bytesMax else { throw tooLarge(T.self, core.log.count, limits.bytesMax) }
    }

    @inline(never)
    private static func tooLarge(_ type: Any.Type, _ size: Int, _ limit: Int) -> WireError {
        .tooLarge(what: "the encoding of \(type)", size: size, limit: limit)
    }

    /// Decodes the value that the bytes encode, all of them.
    ///
    /// No input traps, and no memory is allocated for lengths that are only announced.
    ///
    /// - Parameters:
    ///   - type: the type of the value.
    ///   - bytes: one document.
    ///   - limits: how deep the document may be nested, and how long it may be.
    ///   - userInfo: the `userInfo` of the decoder that the type's `init(from:)` gets. Empty by default.
    /// - Throws: ``WireError`` if the bytes are invalid, or are no `T`.
    package static func decode<T: Decodable>(
        _ type: T.Type, from bytes: [UInt8], limits: CBORLimits = .default,
        userInfo: [CodingUserInfoKey: any Sendable]? = nil
    ) throws(WireError) -> T {
        try decode(type, from: bytes[...], limits: limits, userInfo: userInfo)
    }

    /// Decodes the value that the bytes of the slice encode, all of them. Offsets in errors count from the slice's start.
    ///
    /// No input traps, and no memory is allocated for lengths that are only announced.
    ///
    /// - Parameters:
    ///   - type: the type of the value.
    ///   - bytes: one document.
    ///   - limits: how deep the document may be nested, and how long it may be.
    ///   - userInfo: the `userInfo` of the decoder that the type's `init(from:)` gets. Empty by default.
    /// - Throws: ``WireError`` if the bytes are invalid, or are no `T`.
    package static func decode<T: Decodable>(
        _ type: T.Type, from bytes: ArraySlice<UInt8>, limits: CBORLimits = .default,
        userInfo: [CodingUserInfoKey: any Sendable]? = nil
    ) throws(WireError) -> T {
        // The code in here that is not generic is compiled once, and looks up no types at run time.
        let core = try unsafe bytes.withUnsafeBufferPointer { (buffer) throws(WireError) -> DecodingCore in
            try unsafe DecodingCore.open(buffer, limits, userInfo)
        }
        // An array's elements do not move as long as it is kept and not changed.
        defer { withExtendedLifetime(bytes) { core.close() } }
        return try value(core)
    }

    /// Decodes the value that lent bytes encode, all of them.
    package static func decode<T: Decodable>(
        _ type: T.Type, lent bytes: Span<UInt8>
    ) throws(WireError) -> T {
        let core = try unsafe bytes.withUnsafeBufferPointer { (buffer) throws(WireError) -> DecodingCore in
            try unsafe DecodingCore.open(buffer, CBORLimits.default, nil)
        }
        defer { core.close() }
        return try value(core)
    }

    /// Calls the body with a decoder of all of the bytes, which is valid only during the call.
    /// - Throws: `WireError` if the bytes are no document, and what the body throws.
    static func withDecoder<Result>(of bytes: [UInt8], _ body: (any Decoder) throws -> Result) throws -> Result {
        let core = try unsafe bytes.withUnsafeBufferPointer { (buffer) throws(WireError) -> DecodingCore in
            try unsafe DecodingCore.open(buffer, CBORLimits.default, nil)
        }
        defer { withExtendedLifetime(bytes) { core.close() } }
        return try body(CBORDecoder(core: core, item: .root))
    }

    @inline(__always)
    private static func value<T: Decodable>(_ core: DecodingCore) throws(WireError) -> T {
        do {
            return try core.decode(T.self, at: .root)
        } catch {
            throw WireError(decoding: error)
        }
    }
}
