// Reading the value of a key, past the standard library where the coder is known; see the same of KeyedEncodingContainer.
extension KeyedDecodingContainer {
    /// Every key of the container that `Key` knows, in the container's order.
    ///
    /// The compiler's decoding of an enum asks for them. The standard library's property of this name makes two arrays and casts
    /// each key twice, which is more work than all the rest of reading a small event; a coder of Loop's has the answer already.
    /// Any other coder is asked as always.
    @inlinable
    public var allKeys: [Key] {
        if MemoryLayout<Self>.size == MemoryLayout<UInt>.size,
            let keys = KnownBoxes.allKeys(unsafeBitCast(self, to: UnsafeRawPointer.self))
        {
            return unsafeBitCast(Unmanaged<AnyObject>.fromOpaque(keys).takeUnretainedValue(), to: [Key].self)
        }
        return StandardLibrary.allKeys(self)
    }

    /// Reads the value of a key.
    @inlinable
    public func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        if let place = place(of: key), let value = KnownBoxes.bool(place.box, place.number) { return value }
        return try StandardLibrary.decode(type, key, self)
    }

    /// Reads the value of a key.
    @inlinable
    public func decode(_ type: String.Type, forKey key: Key) throws -> String {
        if let place = place(of: key), let value = KnownBoxes.text(place.box, place.number) { return value }
        return try StandardLibrary.decode(type, key, self)
    }

    /// Reads the value of a key.
    @inlinable
    public func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        if let place = place(of: key), let value = KnownBoxes.float(place.box, place.number) { return value }
        return try StandardLibrary.decode(type, key, self)
    }

    /// Reads the value of a key.
    @inlinable
    public func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        if let number = signed(key), let value = Int(exactly: number) { return value }
        return try StandardLibrary.decode(type, key, self)
    }

    /// Reads the value of a key.
    @inlinable
    public func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
        if let number = signed(key), let value = Int8(exactly: number) { return value }
        return try StandardLibrary.decode(type, key, self)
    }

    /// Reads the value of a key.
    @inlinable
    public func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
        if let number = signed(key), let value = Int16(exactly: number) { return value }
        return try StandardLibrary.decode(type, key, self)
    }

    /// Reads the value of a key.
    @inlinable
    public func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
        if let number = signed(key), let value = Int32(exactly: number) { return value }
        return try StandardLibrary.decode(type, key, self)
    }

    /// Reads the value of a key.
    @inlinable
    public func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        if let number = signed(key), let value = Int64(exactly: number) { return value }
        return try StandardLibrary.decode(type, key, self)
    }

    /// Reads the value of a key.
    @inlinable
    public func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
        if let number = unsigned(key), let value = UInt(exactly: number) { return value }
        return try StandardLibrary.decode(type, key, self)
    }

    /// Reads the value of a key.
    @inlinable
    public func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
        if let number = unsigned(key), let value = UInt8(exactly: number) { return value }
        return try StandardLibrary.decode(type, key, self)
    }

    /// Reads the value of a key.
    @inlinable
    public func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        if let number = unsigned(key), let value = UInt16(exactly: number) { return value }
        return try StandardLibrary.decode(type, key, self)
    }

    /// Reads the value of a key.
    @inlinable
    public func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        if let number = unsigned(key), let value = UInt32(exactly: number) { return value }
        return try StandardLibrary.decode(type, key, self)
    }

    /// Reads the value of a key.
    @inlinable
    public func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        if let number = unsigned(key), let value = UInt64(exactly: number) { return value }
        return try StandardLibrary.decode(type, key, self)
    }

    /// Reads the value of a key.
    @inlinable
    public func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        if let place = place(of: key), let value = try KnownBoxes.value(type, place.box, place.number) { return value }
        return try StandardLibrary.decode(type, key, self)
    }

    /// A container for the map behind a key.
    @inlinable
    public func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Inner> {
        if let place = place(of: key), let box = KnownBoxes.container(keyedBy: type, place.box, place.number) {
            return unsafeBitCast(box, to: KeyedDecodingContainer<Inner>.self)
        }
        return try StandardLibrary.nestedContainer(type, key, self)
    }
}

extension KeyedDecodingContainer {
    /// The container's box, and the number of a key whose type may be an enum without payload.
    @inlinable @inline(__always)
    func place(of key: Key) -> (box: UnsafeRawPointer, number: Int)? {
        guard MemoryLayout<Self>.size == MemoryLayout<UInt>.size, let number = KnownBoxes.number(of: key) else {
            return nil
        }
        return (unsafeBitCast(self, to: UnsafeRawPointer.self), number)
    }

    @inlinable @inline(__always)
    func signed(_ key: Key) -> Int64? { place(of: key).flatMap { KnownBoxes.signed($0.box, $0.number) } }

    @inlinable @inline(__always)
    func unsigned(_ key: Key) -> UInt64? { place(of: key).flatMap { KnownBoxes.unsigned($0.box, $0.number) } }
}
