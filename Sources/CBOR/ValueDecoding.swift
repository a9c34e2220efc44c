// Unsafe: an object of the table was made for its type.

/// How the values of one type are decoded. Each coding state keeps these objects, as those of ``ValueEncoding``.
class ValueDecoding<Value> {
    func read(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> Value {
        preconditionFailure("no decoding of \(Value.self) was chosen")
    }

    func readArray(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> [Value] {
        try core.values(item) { try read(core, $0) }
    }
}

/// A value that decodes itself, through `Codable`.
private final class PlainDecoding<Value: Decodable>: ValueDecoding<Value> {
    override func read(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> Value {
        try Value(from: CBORDecoder(core: core, item: item))
    }
}

private final class ScalarDecoding<Value: CBORScalar>: ValueDecoding<Value> {
    override func read(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> Value { try Value.read(core, item) }

    override func readArray(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> [Value] {
        try Value.readArray(core, item)
    }
}

private final class CollectionDecoding<Value: CBORCollectionDecodable>: ValueDecoding<Value> {
    override func read(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> Value {
        try Value.decode(from: core, at: item)
    }
}

extension CBORScalar {
    fileprivate static var decoding: AnyObject { ScalarDecoding<Self>() }
}

extension CBORCollectionDecodable {
    fileprivate static var decoding: AnyObject { CollectionDecoding<Self>() }
}

extension DecodingCore {
    /// Reads a value of any type.
    @inline(__always)
    func decode<T: Decodable>(_ type: T.Type, at item: Item) throws -> T { try decoding(of: type).read(self, item) }

    /// How the values of a type are decoded.
    @inline(__always)
    func decoding<T: Decodable>(of type: T.Type) -> ValueDecoding<T> {
        let known = unsafe state.pointee.decodings.entry(type)
        return unsafe unsafeDowncast(known?.pointee ?? newDecoding(of: type), to: ValueDecoding<T>.self)
    }

    @inline(never)
    private func newDecoding<T: Decodable>(of type: T.Type) -> AnyObject {
        let decoding: AnyObject =
            if let scalar = type as? any CBORScalar.Type {
                scalar.decoding
            } else if let collection = type as? any CBORCollectionDecodable.Type {
                collection.decoding
            } else {
                PlainDecoding<T>()
            }
        // Without room in the table it is made for each value.
        _ = unsafe state.pointee.decodings.add(type, decoding)
        return decoding
    }
}
