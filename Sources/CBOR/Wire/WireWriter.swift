/// Writes values one after the other: the one value of a ``WireCodable`` type, or the elements of an array.
///
/// A method throws only what its closure or its value throws. What cannot be written, such as containers nested deeper than
/// ``CBORLimits/depthMax``, fails the encoding as a whole.
public struct WireWriter: ~Copyable {
    /// What the values are part of.
    private enum Target {
        case value(ValuePosition)
        case array(node: Int)
    }

    let core: EncodingCore
    private let target: Target
    /// How many values were written.
    private(set) var count = 0

    /// A writer of one value.
    @inline(__always)
    init(_ core: EncodingCore, at position: ValuePosition) {
        self.core = core
        target = .value(position)
    }

    /// A writer of an array's elements.
    @inline(__always)
    init(_ core: EncodingCore, elementsOf array: Int) {
        self.core = core
        target = .array(node: array)
    }

    @inline(__always)
    private mutating func put(_ write: (EncodingCore, ValuePosition) throws -> Void) rethrows {
        let start = core.log.count
        switch target {
        case .value(let position):
            try write(core, position)
        case .array(let node):
            try write(core, .element(count, of: node))
            core.addValue(node, start: start)
        }
        count += 1
    }

    @inline(__always)
    private mutating func put(scalar: some CBORScalar) { put { core, _ in scalar.write(to: &core.log) } }

    // MARK: Single values

    /// Writes null.
    public mutating func writeNull() { put { core, _ in core.log.byte(0xF6) } }

    /// Writes a boolean.
    public mutating func write(_ value: Bool) { put(scalar: value) }

    /// Writes an integer.
    public mutating func write(_ value: Int) { put(scalar: value) }

    /// Writes an integer.
    public mutating func write(_ value: UInt64) { put(scalar: value) }

    /// Writes a number in the shortest form that keeps it.
    public mutating func write(_ value: Double) { put(scalar: value) }

    /// Writes text.
    public mutating func write(_ value: String) { put(scalar: value) }

    /// Writes a byte string.
    public mutating func write(_ value: [UInt8]) { put { core, _ in core.log.byteString(value) } }

    /// Writes a byte string of `count` bytes. `fill` writes them. Bytes that it does not write are zero.
    ///
    /// - Parameters:
    ///   - count: 0 or more.
    ///   - fill: writes the bytes.
    /// - Throws: what `fill` throws. Nothing is written then.
    public mutating func writeBytes(_ count: Int, _ fill: (inout OutputSpan<UInt8>) throws -> Void) rethrows {
        try put { core, _ in try core.log.byteString(count, fill) }
    }

    /// Writes a value that writes itself.
    ///
    /// - Throws: what the value's `encode(to:)` throws. Nothing is written then.
    public mutating func write(_ value: some WireCodable) throws { try put { try $0.encodeWire(value, at: $1) } }

    /// Writes any other value.
    ///
    /// - Throws: what the value's `encode(to:)` throws. Nothing is written then.
    public mutating func write(_ value: some Encodable) throws { try put { try $0.encode(value, at: $1) } }

    // MARK: Containers

    /// Writes a map with text keys.
    ///
    /// - Throws: what `fill` throws. Nothing is written then.
    public mutating func map(_ fill: (inout Map) throws -> Void) rethrows { try put { try $0.wireMap(at: $1, fill) } }

    /// Writes an array. Its elements are what `fill` writes.
    ///
    /// - Throws: what `fill` throws. Nothing is written then.
    public mutating func array(_ fill: (inout WireWriter) throws -> Void) rethrows {
        try put { try $0.wireArray(at: $1, fill) }
    }

    /// Writes an enum's case as the compiler would: a map of one entry, the case's name and a map of its values. Values without a
    /// label have the names `_0`, `_1` and so on.
    ///
    /// - Throws: what `fill` throws. Nothing is written then.
    public mutating func choice(_ name: StaticString, _ fill: (inout Map) throws -> Void) rethrows {
        try map { try $0.map(name, fill) }
    }

    /// Writes an enum's case that has no values.
    public mutating func choice(_ name: StaticString) {
        map { $0.map(name) { _ in } }
    }
}
