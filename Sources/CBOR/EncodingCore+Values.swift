// Unsafe: an array lends its elements for one call.

/// Writes one value of any type to the log.
extension EncodingCore {
    /// Writes the final bytes of a value.
    @inline(__always)
    func encode<T: Encodable>(_ value: T, at position: Position) throws {
        try encoding(of: T.self).write(value, to: self, at: position)
    }

    /// Writes a container whose content `fill` adds.
    func encodeContainer(_ kind: Node.Kind, at position: Position, _ fill: (Int) throws -> Void) throws {
        try withNode(at: position) { node in
            open(node, nodes[node].serial, as: kind)
            try throwFailure()
            try fill(node)
            seal(node)
            try throwFailure()
        }
    }

    /// Writes an array whose elements are what `write` writes.
    @inline(__always)
    func encodeElements<T>(_ values: [T], at position: Position, _ write: (T, Position) throws -> Void) throws {
        try encodeContainer(.array, at: position) { array in
            // The elements where they are, because taking one out of the array would copy it.
            try unsafe values.withUnsafeBufferPointer { values in
                for index in values.indices {
                    let start = log.count
                    try unsafe write(values[index], .element(index, of: array))
                    add(to: array, from: start)
                }
            }
        }
    }
}

/// How the values of one type are encoded: by themselves, through `Codable`.
class ValueEncoding<Value: Encodable> {
    func write(_ value: Value, to core: EncodingCore, at position: EncodingCore.Position) throws {
        try core.withNode(at: position) { node in
            try value.encode(to: CBOREncoder(core, node))
            try core.throwFailure()
            core.seal(node)
        }
    }

    func writeArray(_ values: [Value], to core: EncodingCore, at position: EncodingCore.Position) throws {
        try core.encodeElements(values, at: position) { try write($0, to: core, at: $1) }
    }
}

/// How the values of a type are encoded that the coder encodes itself.
private final class DirectEncoding<Value: CBOREncodable>: ValueEncoding<Value> {
    override func write(_ value: Value, to core: EncodingCore, at position: EncodingCore.Position) throws {
        try value.encode(to: core, at: position)
    }

    override func writeArray(_ values: [Value], to core: EncodingCore, at position: EncodingCore.Position) throws {
        try Value.encode(values, to: core, at: position)
    }
}

/// A type whose values the coder encodes itself. A scalar's own `encode(to:)` would cost a container each, and that of a collection is
/// not deterministic, not packed, or loses something.
protocol CBOREncodable: Encodable {
    func encode(to core: EncodingCore, at position: EncodingCore.Position) throws

    static func encode(_ values: [Self], to core: EncodingCore, at position: EncodingCore.Position) throws
}

extension CBOREncodable {
    static var encoding: AnyObject { DirectEncoding<Self>() }

    static func encode(_ values: [Self], to core: EncodingCore, at position: EncodingCore.Position) throws {
        try core.encodeElements(values, at: position) { try $0.encode(to: core, at: $1) }
    }
}

extension Array: CBOREncodable where Element: Encodable {
    /// Writes an array, or a byte string of bytes.
    func encode(to core: EncodingCore, at position: EncodingCore.Position) throws {
        try core.encoding(of: Element.self).writeArray(self, to: core, at: position)
    }
}

extension Set: CBOREncodable where Element: Encodable {
    /// Writes an array of the elements, ascending by their encoded bytes.
    func encode(to core: EncodingCore, at position: EncodingCore.Position) throws {
        let encoding = core.encoding(of: Element.self)
        try core.encodeContainer(.set, at: position) { set in
            for (index, element) in enumerated() {
                let start = core.log.count
                try encoding.write(element, to: core, at: .element(index, of: set))
                core.add(to: set, from: start, keyLength: core.log.count - start)
            }
        }
    }
}

extension Dictionary: CBOREncodable where Key: Encodable, Value: Encodable {
    /// Writes a map, ascending by encoded key: text for String, integers for Int, any other key as it encodes itself.
    func encode(to core: EncodingCore, at position: EncodingCore.Position) throws {
        let (keyEncoding, valueEncoding) = (core.encoding(of: Key.self), core.encoding(of: Value.self))
        try core.encodeContainer(.dictionary, at: position) { map in
            for (key, value) in self {
                let start = core.log.count
                try keyEncoding.write(key, to: core, at: .inside(map))
                let keyLength = core.log.count - start
                let position = EncodingCore.Position(node: map, step: start, keyLength: keyLength)
                try valueEncoding.write(value, to: core, at: position)
                core.add(to: map, from: start, keyLength: keyLength)
            }
        }
    }
}

extension Optional: CBOREncodable where Wrapped: Encodable {
    /// Writes null, or the value. An optional in an optional is in an array of one, so that `.some(nil)` is not `nil`.
    func encode(to core: EncodingCore, at position: EncodingCore.Position) throws {
        guard let value = self else { return core.log.byte(0xF6) }
        guard Wrapped.self is any CBOROptional.Type else { return try core.encode(value, at: position) }
        try core.encodeContainer(.array, at: position) { array in
            let start = core.log.count
            try core.encode(value, at: .element(0, of: array))
            core.add(to: array, from: start)
        }
    }
}

/// Marks Optional, whatever it wraps.
protocol CBOROptional {}
extension Optional: CBOROptional {}
