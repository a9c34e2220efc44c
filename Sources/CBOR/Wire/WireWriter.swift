// Unsafe: an array lends its bytes for one call.

/// Writes values one after the other: the one value of a ``WireCodable`` type, or the elements of an array.
///
/// Nothing throws here; what cannot be written, as something nested too deep, fails the encoding as a whole.
public struct WireWriter: ~Copyable {
    let core: EncodingCore
    /// The container around what is written, and the key or index there.
    let node: Int
    let keyStartOrIndex: Int
    let keyLength: Int
    /// The container is an array, and this writes its elements.
    let isArray: Bool
    private(set) var count = 0

    init(_ core: EncodingCore, in node: Int, keyStartOrIndex: Int, keyLength: Int, isArray: Bool) {
        self.core = core
        self.node = node
        self.keyStartOrIndex = keyStartOrIndex
        self.keyLength = keyLength
        self.isArray = isArray
    }

    @inline(__always)
    private mutating func put(_ write: (EncodingCore) throws -> Void) rethrows {
        let start = core.log.count
        try write(core)
        count += 1
        if isArray { core.addValue(node, start: start) }
    }

    // MARK: Single values

    /// Writes null.
    public mutating func writeNull() { put { $0.log.byte(0xF6) } }

    /// Writes a boolean.
    public mutating func write(_ value: Bool) { put { $0.log.byte(value ? 0xF5 : 0xF4) } }

    /// Writes an integer.
    public mutating func write(_ value: Int) { put { $0.log.signed(Int64(value)) } }

    /// Writes an integer.
    public mutating func write(_ value: UInt64) { put { $0.log.head(0, value) } }

    /// Writes a number in the shortest form that keeps it.
    public mutating func write(_ value: Double) { put { $0.log.float(value) } }

    /// Writes text.
    public mutating func write(_ value: String) { put { $0.log.text(value) } }

    /// Writes a byte string.
    public mutating func write(_ value: [UInt8]) {
        put { core in unsafe value.withUnsafeBufferPointer { unsafe core.log.byteString($0) } }
    }

    /// Writes a byte string of `count` bytes, which `fill` puts into place; what it leaves out is zero.
    public mutating func writeBytes(_ count: Int, _ fill: (inout OutputSpan<UInt8>) throws -> Void) rethrows {
        try put { core in try core.log.byteString(count, fill) }
    }

    /// Writes a value that writes itself.
    public mutating func write(_ value: some WireCodable) throws {
        let (node, index, length) = place
        try put { try $0.encodeWire(value, in: node, keyStartOrIndex: index, keyLength: length) }
    }

    /// Writes any other value.
    public mutating func write(_ value: some Encodable) throws {
        let (node, index, length) = place
        try put { try $0.encode(value, in: node, keyStartOrIndex: index, keyLength: length) }
    }

    private var place: (Int, Int, Int) { isArray ? (node, count, 0) : (node, keyStartOrIndex, keyLength) }

    // MARK: Containers

    /// Writes a map with text keys.
    public mutating func map(_ fill: (inout Map) throws -> Void) rethrows {
        let (node, index, length) = place
        try put {
            try $0.wireContainer(.map, in: node, keyStartOrIndex: index, keyLength: length) { core, node in
                var map = Map(core: core, node: node)
                try fill(&map)
            }
        }
    }

    /// Writes an array, whose elements are what is written in `fill`.
    public mutating func array(_ fill: (inout WireWriter) throws -> Void) rethrows {
        let (node, index, length) = place
        try put {
            try $0.wireContainer(.array, in: node, keyStartOrIndex: index, keyLength: length) { core, node in
                var elements = WireWriter(core, in: node, keyStartOrIndex: 0, keyLength: 0, isArray: true)
                try fill(&elements)
            }
        }
    }

    /// Writes an enum's case as the compiler would: a map of one entry, the case's name and a map of its values. Values
    /// without a label are called `_0`, `_1` and so on.
    public mutating func choice(_ name: StaticString, _ fill: (inout Map) throws -> Void) rethrows {
        try map { try $0.map(name, fill) }
    }

    /// Writes an enum's case that has no values.
    public mutating func choice(_ name: StaticString) {
        map { $0.map(name) { _ in } }
    }
}
