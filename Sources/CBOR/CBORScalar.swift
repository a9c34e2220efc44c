/// A value that is one item: a Bool, an integer, a float or text. The coder writes and reads it without its `Codable` methods.
protocol CBORScalar: Codable {
    func write(to log: inout RawBuffer)

    /// Writes a key that is known by its ordinal, and the value. Returns false and writes nothing if the key must be written the
    /// general way.
    func put(at place: EncodingPlace, _ ordinal: Int) -> Bool

    /// Writes an array's head and its items.
    static func write(_ values: [Self], to log: inout RawBuffer)

    static func read(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> Self

    static func readArray(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> [Self]
}

extension CBORScalar {
    static func write(_ values: [Self], to log: inout RawBuffer) {
        log.head(0x80, UInt64(values.count))
        for value in values { value.write(to: &log) }
    }

    static func readArray(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> [Self] {
        try core.values(item) { try read(core, $0) }
    }
}

extension CBORScalar where Self: FixedWidthInteger {
    @inline(__always)
    func write(to log: inout RawBuffer) {
        if Self.isSigned { log.signed(Int64(self)) } else { log.head(0, UInt64(self)) }
    }

    @inline(__always)
    func put(at place: EncodingPlace, _ ordinal: Int) -> Bool {
        Self.isSigned ? place.put(ordinal, signed: Int64(self)) : place.put(ordinal, unsigned: UInt64(self))
    }

    @inline(__always)
    static func read(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> Self { try core.integer(Self.self, item) }

    static func readArray(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> [Self] {
        try core.integers(Self.self, item)
    }
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
    static func write(_ values: [UInt8], to log: inout RawBuffer) { log.byteString(values) }

    static func readArray(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> [UInt8] { try core.bytes(item) }
}

extension Bool: CBORScalar {
    private var byte: UInt8 { self ? 0xF5 : 0xF4 }

    @inline(__always)
    func write(to log: inout RawBuffer) { log.byte(byte) }

    @inline(__always)
    func put(at place: EncodingPlace, _ ordinal: Int) -> Bool { place.put(ordinal, simple: byte) }

    @inline(__always)
    static func read(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> Bool { try core.bool(item) }
}

extension Double: CBORScalar {
    @inline(__always)
    func write(to log: inout RawBuffer) { log.float(self) }

    @inline(__always)
    func put(at place: EncodingPlace, _ ordinal: Int) -> Bool { place.put(ordinal, float: self) }

    @inline(__always)
    static func read(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> Double { try core.double(item) }
}

extension Float: CBORScalar {
    @inline(__always)
    func write(to log: inout RawBuffer) { log.float(self) }

    @inline(__always)
    func put(at place: EncodingPlace, _ ordinal: Int) -> Bool { place.put(ordinal, float: Double(self)) }

    @inline(__always)
    static func read(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> Float { try core.float(item) }
}

extension String: CBORScalar {
    @inline(__always)
    func write(to log: inout RawBuffer) { log.text(self) }

    @inline(__always)
    func put(at place: EncodingPlace, _ ordinal: Int) -> Bool { place.put(ordinal, text: self) }

    @inline(__always)
    static func read(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> String { try core.string(item) }
}
