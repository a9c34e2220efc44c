// Unsafe: an object of the table was made for its type; an array lends its elements for one call.

/// How the values of one type are encoded.
///
/// Finding out takes a search through the program's protocol conformances, which costs more than encoding a small value.
/// The answer never changes for a type, so each coding state keeps these objects in a ``TypeTable``.
class ValueEncoding<Value> {
    func write(_ value: Value, to core: EncodingCore, at position: ValuePosition) throws {
        preconditionFailure("no encoding of \(Value.self) was chosen")
    }

    func writeArray(_ values: [Value], to core: EncodingCore, at position: ValuePosition) throws {
        try core.encodeContainer(.array, at: position) { array in
            // The elements where they are, because taking one out of the array would copy it.
            try unsafe values.withUnsafeBufferPointer { values in
                for index in values.indices {
                    let start = core.log.count
                    try unsafe write(values[index], to: core, at: .element(index, of: array))
                    core.addValue(array, start: start)
                }
            }
        }
    }
}

/// A value that encodes itself, through `Codable`.
private final class PlainEncoding<Value: Encodable>: ValueEncoding<Value> {
    override func write(_ value: Value, to core: EncodingCore, at position: ValuePosition) throws {
        try core.encodeChild(value, at: position)
    }
}

private final class ScalarEncoding<Value: CBORScalar>: ValueEncoding<Value> {
    override func write(_ value: Value, to core: EncodingCore, at position: ValuePosition) {
        value.write(to: &core.log)
    }

    override func writeArray(_ values: [Value], to core: EncodingCore, at position: ValuePosition) throws {
        if Value.self != UInt8.self { try core.checkDepth(at: position) }
        Value.write(values, to: &core.log)
    }
}

private final class CollectionEncoding<Value: CBORCollectionEncodable>: ValueEncoding<Value> {
    override func write(_ value: Value, to core: EncodingCore, at position: ValuePosition) throws {
        try value.encode(to: core, at: position)
    }
}

extension CBORScalar {
    fileprivate static var encoding: AnyObject { ScalarEncoding<Self>() }
}

extension CBORCollectionEncodable {
    fileprivate static var encoding: AnyObject { CollectionEncoding<Self>() }
}

extension EncodingCore {
    /// How the values of a type are encoded.
    @inline(__always)
    func encoding<T: Encodable>(of type: T.Type) -> ValueEncoding<T> {
        let known = unsafe state.pointee.encodings.entry(type)
        return unsafe unsafeDowncast(known?.pointee ?? newEncoding(of: type), to: ValueEncoding<T>.self)
    }

    @inline(never)
    private func newEncoding<T: Encodable>(of type: T.Type) -> AnyObject {
        let encoding: AnyObject =
            if let scalar = type as? any CBORScalar.Type {
                scalar.encoding
            } else if let collection = type as? any CBORCollectionEncodable.Type {
                collection.encoding
            } else {
                PlainEncoding<T>()
            }
        // Without room in the table it is made for each value.
        _ = unsafe state.pointee.encodings.add(type, encoding)
        return encoding
    }
}
