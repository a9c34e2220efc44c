// Writing the value of a key, past the standard library where the coder is known.
//
// The compiler's coding of a struct or an enum calls these. They are taken in place of the library's methods of the same names
// wherever this module is imported, also through another: a member of any other module is preferred to the library's. What they
// write is what the coder's container writes, which is asked as always where the coder does not write it at once.
extension KeyedEncodingContainer {
    /// Writes null for a key.
    @inlinable @inline(__always)
    public mutating func encodeNil(forKey key: Key) throws {
        if !put(key, simple: 0xF6) { try StandardLibrary.encodeNil(key, &self) }
    }

    /// Writes the value of a key.
    @inlinable @inline(__always)
    public mutating func encode(_ value: Bool, forKey key: Key) throws {
        if !put(key, flag: value) { try StandardLibrary.encode(value, key, &self) }
    }

    /// Writes the value of a key.
    @inlinable @inline(__always)
    public mutating func encode(_ value: String, forKey key: Key) throws {
        if !put(key, text: value) { try StandardLibrary.encode(value, key, &self) }
    }

    /// Writes the value of a key.
    @inlinable @inline(__always)
    public mutating func encode(_ value: Double, forKey key: Key) throws {
        if !put(key, float: value) { try StandardLibrary.encode(value, key, &self) }
    }

    /// Writes the value of a key.
    @inlinable @inline(__always)
    public mutating func encode(_ value: Float, forKey key: Key) throws {
        if !put(key, float: Double(value)) { try StandardLibrary.encode(value, key, &self) }
    }

    /// Writes the value of a key.
    @inlinable @inline(__always)
    public mutating func encode(_ value: Int, forKey key: Key) throws {
        if !put(key, signed: Int64(value)) { try StandardLibrary.encode(value, key, &self) }
    }

    /// Writes the value of a key.
    @inlinable @inline(__always)
    public mutating func encode(_ value: Int8, forKey key: Key) throws {
        if !put(key, signed: Int64(value)) { try StandardLibrary.encode(value, key, &self) }
    }

    /// Writes the value of a key.
    @inlinable @inline(__always)
    public mutating func encode(_ value: Int16, forKey key: Key) throws {
        if !put(key, signed: Int64(value)) { try StandardLibrary.encode(value, key, &self) }
    }

    /// Writes the value of a key.
    @inlinable @inline(__always)
    public mutating func encode(_ value: Int32, forKey key: Key) throws {
        if !put(key, signed: Int64(value)) { try StandardLibrary.encode(value, key, &self) }
    }

    /// Writes the value of a key.
    @inlinable @inline(__always)
    public mutating func encode(_ value: Int64, forKey key: Key) throws {
        if !put(key, signed: Int64(value)) { try StandardLibrary.encode(value, key, &self) }
    }

    /// Writes the value of a key.
    @inlinable @inline(__always)
    public mutating func encode(_ value: UInt, forKey key: Key) throws {
        if !put(key, unsigned: UInt64(value)) { try StandardLibrary.encode(value, key, &self) }
    }

    /// Writes the value of a key.
    @inlinable @inline(__always)
    public mutating func encode(_ value: UInt8, forKey key: Key) throws {
        if !put(key, unsigned: UInt64(value)) { try StandardLibrary.encode(value, key, &self) }
    }

    /// Writes the value of a key.
    @inlinable @inline(__always)
    public mutating func encode(_ value: UInt16, forKey key: Key) throws {
        if !put(key, unsigned: UInt64(value)) { try StandardLibrary.encode(value, key, &self) }
    }

    /// Writes the value of a key.
    @inlinable @inline(__always)
    public mutating func encode(_ value: UInt32, forKey key: Key) throws {
        if !put(key, unsigned: UInt64(value)) { try StandardLibrary.encode(value, key, &self) }
    }

    /// Writes the value of a key.
    @inlinable @inline(__always)
    public mutating func encode(_ value: UInt64, forKey key: Key) throws {
        if !put(key, unsigned: UInt64(value)) { try StandardLibrary.encode(value, key, &self) }
    }

    /// Writes the value of a key.
    @inlinable
    public mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        if let place = place(of: key), try KnownBoxes.put(place.box, place.number, value: value) { return }
        try StandardLibrary.encode(value, key, &self)
    }

    /// A container for a map behind a key.
    @inlinable
    public mutating func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Inner> {
        if let place = place(of: key), let box = KnownBoxes.container(place.box, place.number, keyedBy: type) {
            return unsafeBitCast(box, to: KeyedEncodingContainer<Inner>.self)
        }
        return StandardLibrary.nestedContainer(type, key, &self)
    }
}

extension KeyedEncodingContainer {
    /// The container's box, and the number of a key whose type may be an enum without payload.
    @inlinable @inline(__always)
    func place(of key: Key) -> (box: UnsafeRawPointer, number: Int)? {
        guard MemoryLayout<Self>.size == MemoryLayout<UInt>.size, let number = KnownBoxes.number(of: key) else {
            return nil
        }
        return (unsafeBitCast(self, to: UnsafeRawPointer.self), number)
    }

    @inlinable @inline(__always)
    func put(_ key: Key, simple value: UInt8) -> Bool {
        guard let place = place(of: key) else { return false }
        return KnownBoxes.put(place.box, place.number, simple: value)
    }

    @inlinable @inline(__always)
    func put(_ key: Key, flag value: Bool) -> Bool {
        guard let place = place(of: key) else { return false }
        return KnownBoxes.put(place.box, place.number, flag: value)
    }

    @inlinable @inline(__always)
    func put(_ key: Key, signed value: Int64) -> Bool {
        guard let place = place(of: key) else { return false }
        return KnownBoxes.put(place.box, place.number, signed: value)
    }

    @inlinable @inline(__always)
    func put(_ key: Key, unsigned value: UInt64) -> Bool {
        guard let place = place(of: key) else { return false }
        return KnownBoxes.put(place.box, place.number, unsigned: value)
    }

    @inlinable @inline(__always)
    func put(_ key: Key, float value: Double) -> Bool {
        guard let place = place(of: key) else { return false }
        return KnownBoxes.put(place.box, place.number, float: value)
    }

    @inlinable @inline(__always)
    func put(_ key: Key, text value: String) -> Bool {
        guard let place = place(of: key) else { return false }
        return KnownBoxes.put(place.box, place.number, text: value)
    }
}
