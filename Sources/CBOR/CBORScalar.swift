// Unsafe: an array lends its bytes for one call.

/// A value that is one item: a Bool, an integer, a float or text. The coder writes and reads it without asking it.
protocol CBORScalar: CBOREncodable, CBORDecodable {
    func write(to log: inout RawBuffer)

    static func read(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> Self
}

extension CBORScalar {
    func encode(to core: EncodingCore, at position: EncodingCore.Position) { write(to: &core.log) }

    static func encode(_ values: [Self], to core: EncodingCore, at position: EncodingCore.Position) throws {
        try core.checkDepth(at: position)
        core.log.head(0x80, UInt64(values.count))
        for value in values { value.write(to: &core.log) }
    }

    static func decode(from core: DecodingCore, at item: CBORIndex.Item) throws -> Self { try read(core, item) }
}

extension CBORScalar where Self: FixedWidthInteger {
    @inline(__always)
    func write(to log: inout RawBuffer) {
        if Self.isSigned { log.signed(Int64(self)) } else { log.head(0, UInt64(self)) }
    }

    @inline(__always)
    static func read(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> Self { try core.integer(Self.self, item) }
}

extension Int: CBORScalar {}
extension Int8: CBORScalar {}
extension Int16: CBORScalar {}
extension Int32: CBORScalar {}
extension Int64: CBORScalar {}
extension UInt: CBORScalar {}
extension UInt16: CBORScalar {}
extension UInt32: CBORScalar {}
extension UInt64: CBORScalar {}

extension UInt8: CBORScalar {
    /// Writes a byte string.
    static func encode(_ values: [UInt8], to core: EncodingCore, at position: EncodingCore.Position) {
        unsafe values.withUnsafeBufferPointer { unsafe core.log.string(0x40, $0) }
    }

    /// Reads a byte string, or an array of integers, which is what a person can write in JSON.
    static func decodeArray(from core: DecodingCore, at item: CBORIndex.Item) throws -> [UInt8] {
        let head = try core.head(item)
        if head.major == 2 { return core.index.bytes(head, item) }
        guard head.major == 4 else { throw core.mismatch([UInt8].self, "a byte string", item) }
        return try core.elements(item) { try read(core, $0) }
    }
}

extension Bool: CBORScalar {
    @inline(__always)
    func write(to log: inout RawBuffer) { log.byte(self ? 0xF5 : 0xF4) }

    @inline(__always)
    static func read(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> Bool { try core.bool(item) }
}

extension Double: CBORScalar {
    @inline(__always)
    func write(to log: inout RawBuffer) { log.float(self) }

    @inline(__always)
    static func read(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> Double { try core.double(item) }
}

extension Float: CBORScalar {
    @inline(__always)
    func write(to log: inout RawBuffer) { log.float(Double(self)) }

    @inline(__always)
    static func read(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> Float { try core.float(item) }
}

extension String: CBORScalar {
    @inline(__always)
    func write(to log: inout RawBuffer) { log.text(self) }

    @inline(__always)
    static func read(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> String { try core.string(item) }
}
