/// A collection that the coder encodes itself, because the collection's own `encode(to:)` is not deterministic, packed or lossless.
protocol CBORCollectionEncodable: Encodable {
    func encode(to core: EncodingCore, at position: ValuePosition) throws
}

extension Array: CBORCollectionEncodable where Element: Encodable {
    /// An array, or a byte string for bytes.
    func encode(to core: EncodingCore, at position: ValuePosition) throws {
        try core.encoding(of: Element.self).writeArray(self, to: core, at: position)
    }
}

extension Set: CBORCollectionEncodable where Element: Encodable {
    /// An array of the elements, ascending by their encoded bytes.
    func encode(to core: EncodingCore, at position: ValuePosition) throws {
        let encoding = core.encoding(of: Element.self)
        try core.encodeContainer(.set, at: position) { set in
            for (index, element) in enumerated() {
                let start = core.log.count
                try encoding.write(element, to: core, at: .element(index, of: set))
                core.addEntry(set, start: start, keyLength: core.log.count - start)
            }
        }
    }
}

extension Dictionary: CBORCollectionEncodable where Key: Encodable, Value: Encodable {
    /// A map, ascending by encoded key: text for String, integers for Int, any other key as it encodes itself.
    func encode(to core: EncodingCore, at position: ValuePosition) throws {
        let (keyEncoding, valueEncoding) = (core.encoding(of: Key.self), core.encoding(of: Value.self))
        try core.encodeContainer(.dictionary, at: position) { map in
            for (key, value) in self {
                let start = core.log.count
                try keyEncoding.write(key, to: core, at: .inside(map))
                let keyLength = core.log.count - start
                try valueEncoding.write(
                    value, to: core, at: .entry(keyStart: start, keyLength: keyLength, of: map))
                core.addEntry(map, start: start, keyLength: keyLength)
            }
        }
    }
}

extension Optional: CBORCollectionEncodable where Wrapped: Encodable {
    /// Null, or the value. An optional in an optional is in an array of one, so that `.some(nil)` is not `nil`.
    func encode(to core: EncodingCore, at position: ValuePosition) throws {
        guard let value = self else { return core.log.byte(0xF6) }
        guard Wrapped.self is any CBOROptional.Type else { return try core.encode(value, at: position) }
        try core.encodeContainer(.array, at: position) { array in
            let start = core.log.count
            try core.encode(value, at: .element(0, of: array))
            core.addValue(array, start: start)
        }
    }
}

/// Marks `Optional`, whatever it wraps.
protocol CBOROptional {}
extension Optional: CBOROptional {}
