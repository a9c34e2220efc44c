// Unsafe: the coding state lives until `end()` gives it back, and every handle is checked against its serial number.

/// A collection that is taken apart by the coder: deterministic where its own `encode(to:)` is not.
protocol CBORCollectionEncodable {
    func encode(to core: EncodingCore, in node: Int, keyStartOrIndex: Int, keyLength: Int) throws
}

extension CBORCollectionEncodable {
    /// Encodes the value at this place, which is one of this type.
    static func encode(
        at place: UnsafeRawPointer, to core: EncodingCore, in node: Int, keyStartOrIndex: Int, keyLength: Int
    ) throws {
        try unsafe place.assumingMemoryBound(to: Self.self).pointee.encode(
            to: core, in: node, keyStartOrIndex: keyStartOrIndex, keyLength: keyLength)
    }
}

extension Array: CBORCollectionEncodable where Element: Encodable {
    func encode(to core: EncodingCore, in node: Int, keyStartOrIndex: Int, keyLength: Int) throws {
        try core.encodeContainer(.array, in: node, keyStartOrIndex: keyStartOrIndex, keyLength: keyLength) { array in
            // The elements where they are, because taking one out of the array would copy it.
            try unsafe withUnsafeBufferPointer { elements in
                guard let first = elements.baseAddress else { return }
                let shape = unsafe CodingShape.of(
                    Element.self, core.state.pointee.shapes, core.state.pointee.spareShape)
                let (kind, wire) = unsafe (shape.pointee.kind, shape.pointee.wire)
                for index in 0..<elements.count {
                    let start = core.log.count
                    if kind == .plain {
                        try unsafe core.encodeChild(
                            (first + index).pointee, in: array, keyStartOrIndex: index, keyLength: 0)
                    } else if kind == .wire, let wire {
                        try unsafe core.encodeWire(
                            wire, at: first + index, in: array, keyStartOrIndex: index, keyLength: 0)
                    } else {
                        try unsafe core.encode((first + index).pointee, in: array, keyStartOrIndex: index, keyLength: 0)
                    }
                    core.addValue(array, start: start)
                }
            }
        }
    }
}

extension Set: CBORCollectionEncodable where Element: Encodable {
    /// An array of the elements, ascending by their encoded bytes.
    func encode(to core: EncodingCore, in node: Int, keyStartOrIndex: Int, keyLength: Int) throws {
        try core.encodeContainer(.set, in: node, keyStartOrIndex: keyStartOrIndex, keyLength: keyLength) { map in
            for (index, element) in enumerated() {
                let start = core.log.count
                try core.encode(element, in: map, keyStartOrIndex: index, keyLength: 0)
                core.addEntry(map, start: start, keyLength: core.log.count - start, child: -1)
            }
        }
    }
}

extension Dictionary: CBORCollectionEncodable where Key: Encodable, Value: Encodable {
    /// A map, ascending by encoded key: text for String, integers for Int, any other key as it encodes itself.
    func encode(to core: EncodingCore, in node: Int, keyStartOrIndex: Int, keyLength: Int) throws {
        try core.encodeContainer(.dictionary, in: node, keyStartOrIndex: keyStartOrIndex, keyLength: keyLength) { map in
            for (key, value) in self {
                let start = core.log.count
                try core.encode(key, in: map, keyStartOrIndex: start, keyLength: -1)
                let keyLength = core.log.count - start
                try core.encode(value, in: map, keyStartOrIndex: start, keyLength: keyLength)
                core.addEntry(map, start: start, keyLength: keyLength, child: -1)
            }
        }
    }
}

extension Optional: CBORCollectionEncodable where Wrapped: Encodable {
    /// Null, or the value. An optional in an optional stands in an array of one, so that `.some(nil)` is not `nil`.
    func encode(to core: EncodingCore, in node: Int, keyStartOrIndex: Int, keyLength: Int) throws {
        guard let value = self else { return core.log.byte(0xF6) }
        guard Wrapped.self is any CBOROptional.Type else {
            return try core.encode(value, in: node, keyStartOrIndex: keyStartOrIndex, keyLength: keyLength)
        }
        try core.encodeContainer(.array, in: node, keyStartOrIndex: keyStartOrIndex, keyLength: keyLength) { array in
            let start = core.log.count
            try core.encode(value, in: array, keyStartOrIndex: 0, keyLength: 0)
            core.addValue(array, start: start)
        }
    }
}

/// Marks Optional, whatever it wraps.
protocol CBOROptional {}
extension Optional: CBOROptional {}
