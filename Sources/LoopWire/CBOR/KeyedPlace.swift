import LoopCore

/// Which map a keyed container reads, whatever its type of keys.
struct KeyedPlace {
    /// What is known about the type of keys; nil where there was no room for it.
    let keys: UnsafeMutablePointer<DecodingKeys>?
    /// Of the document that this was made for.
    private let ownCore: DecodingCore
    /// The kept box that this is in, where the map is found then; nil if it is in none and has its own.
    let box: UnsafeMutablePointer<DecodingKeys.Box>?
    private let ownItem: CBORIndex.Item

    init(
        core: DecodingCore, keys: UnsafeMutablePointer<DecodingKeys>?, box: UnsafeMutablePointer<DecodingKeys.Box>?,
        ownItem: CBORIndex.Item
    ) {
        ownCore = core
        self.keys = keys
        self.box = box
        self.ownItem = ownItem
    }

    var core: DecodingCore {
        @inline(__always) get {
            guard let box else { return ownCore }
            return DecodingCore(state: ownCore.state, serial: box.pointee.serial)
        }
    }

    var item: CBORIndex.Item {
        @inline(__always) get { box?.pointee.item ?? ownItem }
    }

    /// The first two words in memory, by which a box that holds this is known.
    var words: (UInt, UInt) { (UInt(bitPattern: keys), UInt(bitPattern: ownCore.state)) }

    /// The value of a known key, if the map holds it and its document is open.
    @inline(__always)
    func known(_ ordinal: Int) -> CBORIndex.Item? {
        guard let box, ordinal < KeyName.ordinalsMax,
            box.pointee.present &>> UInt64(truncatingIfNeeded: ordinal) & 1 != 0,
            box.pointee.serial == ownCore.state.pointee.serial
        else { return nil }
        return box.pointee.values[ordinal]
    }
}

/// Reads the values of known keys for containers that are asked past the standard library. Only what is right is read:
/// of anything else the container says what is wrong.
enum QuickReader: QuickDecoding {
    @inline(__always)
    private static func place(_ container: UnsafeRawPointer) -> UnsafePointer<KeyedPlace> {
        container.assumingMemoryBound(to: KeyedPlace.self)
    }

    /// Where the value of a known key begins.
    @inline(__always)
    private static func value(_ container: UnsafeRawPointer, _ ordinal: Int) -> UnsafePointer<UInt8>? {
        let place = place(container)
        guard let item = place.pointee.known(ordinal) else { return nil }
        return place.pointee.core.state.pointee.index.base + Int(item.offset)
    }

    /// The answer that is kept for a map of one entry, the name of an enum's case.
    static func allKeys(_ container: UnsafeRawPointer) -> UnsafeRawPointer? {
        let place = place(container)
        guard let keys = place.pointee.keys,
            let number = place.pointee.core.knownOneKey(in: place.pointee.item, keys)
        else { return nil }
        return UnsafeRawPointer(Unmanaged.passUnretained(keys.pointee.oneKeys[number].keys).toOpaque())
    }

    static func bool(_ container: UnsafeRawPointer, _ ordinal: Int) -> Bool? {
        guard let place = value(container, ordinal), place[0] & 0xFE == 0xF4 else { return nil }
        return place[0] == 0xF5
    }

    static func signed(_ container: UnsafeRawPointer, _ ordinal: Int) -> Int64? {
        guard let place = value(container, ordinal) else { return nil }
        if place[0] < 24 { return Int64(place[0]) }
        guard place[0] < 0x3C, place[0] & 31 < 28 else { return nil }
        let argument = CBORScan.argument(place, info: place[0] & 31)
        guard argument <= UInt64(Int64.max) else { return nil }
        // The argument of a negative number n is −1 − n, its complement.
        return place[0] < 0x20 ? Int64(argument) : ~Int64(argument)
    }

    static func unsigned(_ container: UnsafeRawPointer, _ ordinal: Int) -> UInt64? {
        guard let place = value(container, ordinal), place[0] < 28 else { return nil }
        return CBORScan.argument(place, info: place[0])
    }

    static func float(_ container: UnsafeRawPointer, _ ordinal: Int) -> Double? {
        guard let place = value(container, ordinal) else { return nil }
        switch place[0] {
        case 0xFB: return Double(bitPattern: CBORScan.argument(place + 1, width: 8))
        case 0xFA: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: CBORScan.argument(place + 1, width: 4))))
        case 0xF9: return CBORFloat.value(half: UInt16(truncatingIfNeeded: CBORScan.argument(place + 1, width: 2)))
        default: return nil
        }
    }

    static func text(_ container: UnsafeRawPointer, _ ordinal: Int) -> String? {
        guard let place = value(container, ordinal), place[0] & 0xE0 == 0x60, place[0] & 31 < 28 else { return nil }
        let info = place[0] & 31
        return DecodingCore.string(
            place + 1 + CBORIndex.width(info), count: Int(CBORScan.argument(place, info: info)))
    }

    static func value<T: Decodable>(_ type: T.Type, _ container: UnsafeRawPointer, _ ordinal: Int) throws -> T? {
        let place = place(container)
        guard let item = place.pointee.known(ordinal) else { return nil }
        return try place.pointee.core.decode(type, at: item)
    }

    static func container<Inner: CodingKey>(
        keyedBy type: Inner.Type, _ container: UnsafeRawPointer, _ ordinal: Int
    ) -> UnsafeRawPointer? {
        let place = place(container)
        guard let item = place.pointee.known(ordinal),
            let (_, box) = place.pointee.core.box(type, item)
        else { return nil }
        return UnsafeRawPointer(Unmanaged.passUnretained(box.pointee.object).toOpaque())
    }
}
