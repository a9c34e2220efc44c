import Synchronization

/// Keyed containers that may be asked past the standard library.
///
/// A keyed container is one reference to an object of the standard library's, its box, in which the coder's own container
/// lies. For each value the library goes from one to the other through two look-ups of types, which cost more than coding a number.
/// A coder makes known the classes of the boxes that hold its containers; a box of such a class is handed to the coder directly.
/// Should a later library put containers together differently, no class is made known, and everything goes the library's way.
@usableFromInline
package enum KnownBoxes {
    /// Where the coder's container begins in a box: behind the two words that every object of Swift's has.
    private static var offset: Int { 16 }

    // Addresses of tables, so that looking one up needs no check whether it was made.
    private static let encoding = Atomic<UInt>(0)
    private static let decoding = Atomic<UInt>(0)

    /// Makes known the class of a container's box, if the box holds the coder's container where it is looked for.
    /// - Parameters:
    ///   - words: the first two words of the coder's container.
    ///   - coder: writes for it. There is one such coder.
    package static func makeKnown<Key>(
        _ container: KeyedEncodingContainer<Key>, words: (UInt, UInt), _ coder: any QuickEncoding.Type
    ) {
        if let type = boxType(of: container, words: words) { Known.of(encoding, coder).add(type) }
    }

    /// The same for a container that is read.
    package static func makeKnown<Key>(
        _ container: KeyedDecodingContainer<Key>, words: (UInt, UInt), _ coder: any QuickDecoding.Type
    ) {
        if let type = boxType(of: container, words: words) { Known.of(decoding, coder).add(type) }
    }

    private static func boxType<Container>(of container: Container, words: (UInt, UInt)) -> UInt? {
        guard MemoryLayout<Container>.size == MemoryLayout<UInt>.size else { return nil }
        return withExtendedLifetime(container) {
            let box = unsafeBitCast(container, to: UnsafeRawPointer.self)
            let held = (box + offset).assumingMemoryBound(to: UInt.self)
            return held[0] == words.0 && held[1] == words.1 ? box.load(as: UInt.self) : nil
        }
    }

    /// The number of a key whose type may be an enum without payload: its byte in memory, 0 for a type that has no byte. Nil for
    /// a key that is more than that.
    @inlinable @inline(__always)
    static func number<Key: CodingKey>(of key: Key) -> Int? {
        switch MemoryLayout<Key>.size {
        case 1: Int(unsafeBitCast(key, to: UInt8.self))
        case 0: 0
        default: nil
        }
    }

    @inline(__always)
    private static func encoding(
        _ box: UnsafeRawPointer, _ put: (any QuickEncoding.Type, UnsafeRawPointer) throws -> Bool
    ) rethrows -> Bool {
        guard let coder = Known<any QuickEncoding.Type>.coder(encoding, box) else { return false }
        return try put(coder, box + offset)
    }

    @inline(__always)
    private static func decoding<Value>(
        _ box: UnsafeRawPointer, _ read: (any QuickDecoding.Type, UnsafeRawPointer) throws -> Value?
    ) rethrows -> Value? {
        guard let coder = Known<any QuickDecoding.Type>.coder(decoding, box) else { return nil }
        return try read(coder, box + offset)
    }
}

// What the library's containers ask of a box, whose key is known by its number.
extension KnownBoxes {
    @usableFromInline
    static func put(_ box: UnsafeRawPointer, _ number: Int, simple value: UInt8) -> Bool {
        encoding(box) { $0.put($1, number, simple: value) }
    }

    @usableFromInline
    static func put(_ box: UnsafeRawPointer, _ number: Int, flag value: Bool) -> Bool {
        encoding(box) { $0.put($1, number, simple: value ? 0xF5 : 0xF4) }
    }

    @usableFromInline
    static func put(_ box: UnsafeRawPointer, _ number: Int, signed value: Int64) -> Bool {
        encoding(box) { $0.put($1, number, signed: value) }
    }

    @usableFromInline
    static func put(_ box: UnsafeRawPointer, _ number: Int, unsigned value: UInt64) -> Bool {
        encoding(box) { $0.put($1, number, unsigned: value) }
    }

    @usableFromInline
    static func put(_ box: UnsafeRawPointer, _ number: Int, float value: Double) -> Bool {
        encoding(box) { $0.put($1, number, float: value) }
    }

    @usableFromInline
    static func put(_ box: UnsafeRawPointer, _ number: Int, text value: String) -> Bool {
        encoding(box) { $0.put($1, number, text: value) }
    }

    @usableFromInline
    static func put<T: Encodable>(_ box: UnsafeRawPointer, _ number: Int, value: T) throws -> Bool {
        try encoding(box) { try $0.put($1, number, value: value) }
    }

    @usableFromInline
    static func container<Inner: CodingKey>(
        _ box: UnsafeRawPointer, _ number: Int, keyedBy type: Inner.Type
    ) -> UnsafeRawPointer? {
        guard let coder = Known<any QuickEncoding.Type>.coder(encoding, box) else { return nil }
        return coder.container(box + offset, number, keyedBy: type)
    }

    @usableFromInline
    static func container<Inner: CodingKey>(
        keyedBy type: Inner.Type, _ box: UnsafeRawPointer, _ number: Int
    ) -> UnsafeRawPointer? {
        decoding(box) { $0.container(keyedBy: type, $1, number) }
    }

    @usableFromInline
    static func allKeys(_ box: UnsafeRawPointer) -> UnsafeRawPointer? { decoding(box) { $0.allKeys($1) } }

    @usableFromInline
    static func bool(_ box: UnsafeRawPointer, _ number: Int) -> Bool? { decoding(box) { $0.bool($1, number) } }

    @usableFromInline
    static func signed(_ box: UnsafeRawPointer, _ number: Int) -> Int64? { decoding(box) { $0.signed($1, number) } }

    @usableFromInline
    static func unsigned(_ box: UnsafeRawPointer, _ number: Int) -> UInt64? {
        decoding(box) { $0.unsigned($1, number) }
    }

    @usableFromInline
    static func float(_ box: UnsafeRawPointer, _ number: Int) -> Double? { decoding(box) { $0.float($1, number) } }

    @usableFromInline
    static func text(_ box: UnsafeRawPointer, _ number: Int) -> String? { decoding(box) { $0.text($1, number) } }

    @usableFromInline
    static func value<T: Decodable>(_ type: T.Type, _ box: UnsafeRawPointer, _ number: Int) throws -> T? {
        try decoding(box) { try $0.value(type, $1, number) }
    }
}

/// What a coder writes for its keyed containers, without the standard library between. Each answers whether it was
/// written; if not, nothing has happened, and the container is asked as always.
package protocol QuickEncoding {
    /// A value that is one byte of CBOR: null, false or true.
    static func put(_ container: UnsafeRawPointer, _ number: Int, simple value: UInt8) -> Bool
    static func put(_ container: UnsafeRawPointer, _ number: Int, signed value: Int64) -> Bool
    static func put(_ container: UnsafeRawPointer, _ number: Int, unsigned value: UInt64) -> Bool
    static func put(_ container: UnsafeRawPointer, _ number: Int, float value: Double) -> Bool
    static func put(_ container: UnsafeRawPointer, _ number: Int, text value: String) -> Bool
    static func put<T: Encodable>(_ container: UnsafeRawPointer, _ number: Int, value: T) throws -> Bool
    /// The box of a container for a map behind the key.
    static func container<Inner: CodingKey>(
        _ container: UnsafeRawPointer, _ number: Int, keyedBy type: Inner.Type
    ) -> UnsafeRawPointer?
}

/// What a coder reads for its keyed containers, without the standard library between. Where it has no answer, whether
/// something is wrong or not, the container is asked as always.
package protocol QuickDecoding {
    /// An array of all keys, which is kept as long as the container's document is open.
    static func allKeys(_ container: UnsafeRawPointer) -> UnsafeRawPointer?
    static func bool(_ container: UnsafeRawPointer, _ number: Int) -> Bool?
    static func signed(_ container: UnsafeRawPointer, _ number: Int) -> Int64?
    static func unsigned(_ container: UnsafeRawPointer, _ number: Int) -> UInt64?
    static func float(_ container: UnsafeRawPointer, _ number: Int) -> Double?
    static func text(_ container: UnsafeRawPointer, _ number: Int) -> String?
    static func value<T: Decodable>(_ type: T.Type, _ container: UnsafeRawPointer, _ number: Int) throws -> T?
    /// The box of a container for the map behind the key.
    static func container<Inner: CodingKey>(
        keyedBy type: Inner.Type, _ container: UnsafeRawPointer, _ number: Int
    ) -> UnsafeRawPointer?
}

/// The classes whose objects one coder codes for, by their addresses: in a table of fixed size that threads read and add to without
/// waiting for each other. A class for which there is no room is left out.
private struct Known<Coder>: @unchecked Sendable {
    private let coder: Coder
    private let places: UnsafeMutablePointer<Atomic<UInt>>
    private static var placesMax: Int { 1024 }
    private static var stepsMax: Int { 8 }

    private init(_ coder: Coder) {
        self.coder = coder
        places = .allocate(capacity: Self.placesMax + Self.stepsMax)
        for place in 0..<Self.placesMax + Self.stepsMax { (places + place).initialize(to: Atomic(0)) }
    }

    /// The table at this address; it is made with the first class, and stays.
    static func of(_ address: borrowing Atomic<UInt>, _ coder: Coder) -> Known {
        if let table = UnsafePointer<Known>(bitPattern: address.load(ordering: .acquiring)) { return table.pointee }
        let table = UnsafeMutablePointer<Known>.allocate(capacity: 1)
        table.initialize(to: Known(coder))
        let (isOurs, other) = address.compareExchange(
            expected: 0, desired: UInt(bitPattern: table), ordering: .acquiringAndReleasing)
        guard !isOurs, let others = UnsafePointer<Known>(bitPattern: other) else { return table.pointee }
        table.pointee.places.deallocate()
        table.deallocate()
        return others.pointee
    }

    /// The coder of the table at this address, if it codes for objects of this one's class.
    @inline(__always)
    static func coder(_ address: borrowing Atomic<UInt>, _ object: UnsafeRawPointer) -> Coder? {
        guard let table = UnsafePointer<Known>(bitPattern: address.load(ordering: .acquiring)) else { return nil }
        let type = object.load(as: UInt.self)
        let place = table.pointee.places + place(type)
        // Most are where they are looked for first.
        if place.pointee.load(ordering: .acquiring) == type { return table.pointee.coder }
        return isNear(type, place) ? table.pointee.coder : nil
    }

    @inline(never)
    private static func isNear(_ type: UInt, _ first: UnsafeMutablePointer<Atomic<UInt>>) -> Bool {
        for place in first..<first + stepsMax {
            let found = place.pointee.load(ordering: .acquiring)
            if found == type { return true }
            if found == 0 { return false }
        }
        return false
    }

    func add(_ type: UInt) {
        let first = Self.place(type)
        for place in first..<first + Self.stepsMax {
            let (added, found) = places[place].compareExchange(
                expected: 0, desired: type, ordering: .acquiringAndReleasing)
            if added || found == type { return }
        }
    }

    @inline(__always)
    private static func place(_ type: UInt) -> Int { Int((type &* 0x9E37_79B9_7F4A_7C15) >> 54) }
}
