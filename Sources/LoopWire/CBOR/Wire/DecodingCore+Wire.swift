/// What a ``WireReader`` asks of the document.
extension DecodingCore {
    /// Reads a value of a type that was found to read itself.
    func decodeWire<T: Decodable>(
        _ type: T.Type, _ shape: UnsafeMutablePointer<CodingShape>, _ item: Item
    ) throws -> T {
        guard let wire = shape.pointee.wire else { return try T(from: CBORDecoder(core: self, item: item)) }
        return try made(type) { place in
            var reader = WireReader(core: self, item: item)
            try wire.read(to: place, from: &reader)
        }
    }
}
