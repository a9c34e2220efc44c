// Unsafe: the object was made for this type.

/// What a ``WireReader`` asks of the document.
extension DecodingCore {
    /// Reads a value of a type that was found to read itself.
    @inline(__always)
    func decodeWire<T: Decodable>(_ shape: UnsafeMutablePointer<CodingShape>, _ item: Item) throws -> T {
        guard let coding = unsafe shape.pointee.wireCoding else {
            return try T(from: CBORDecoder(core: self, item: item))
        }
        return try unsafe unsafeDowncast(coding, to: TypedCoding<T>.self).read(self, item)
    }
}
