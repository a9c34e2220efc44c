/// What a ``WireReader`` asks of the document.
extension DecodingCore {
    /// Reads a value of a type that was found to read itself.
    @inline(__always)
    func decodeWire<T: Decodable>(_ shape: UnsafeMutablePointer<CodingShape>, _ item: Item) throws -> T {
        guard let coding = shape.pointee.wireCoding else { return try T(from: CBORDecoder(core: self, item: item)) }
        return try unsafeDowncast(coding, to: TypedCoding<T>.self).read(self, item)
    }
}
