// Unsafe: the document's memory and its index do not change until `close()`, and every handle is checked against its serial number.
// Kept boxes are never moved.

/// The map that a keyed container reads, independent of its type of keys.
@safe struct KeyedPlace {
    /// What is known about the type of keys, or nil if the table was full.
    let keys: UnsafeMutablePointer<DecodingKeys>?
    /// The state, and the serial number of the document that this was made for.
    private let ownCore: DecodingCore
    /// The kept box that has the map, or nil if this value has the map itself.
    let box: UnsafeMutablePointer<DecodingKeys.Box>?
    private let ownItem: CBORIndex.Item

    init(
        core: DecodingCore, keys: UnsafeMutablePointer<DecodingKeys>?, box: UnsafeMutablePointer<DecodingKeys.Box>?,
        ownItem: CBORIndex.Item
    ) {
        ownCore = core
        unsafe self.keys = unsafe keys
        unsafe self.box = unsafe box
        self.ownItem = ownItem
    }

    var core: DecodingCore {
        @inline(__always) get {
            guard let box = unsafe box else { return ownCore }
            return unsafe DecodingCore(state: ownCore.state, serial: box.pointee.serial)
        }
    }

    var item: CBORIndex.Item {
        @inline(__always) get { unsafe box?.pointee.item ?? ownItem }
    }

    /// The value for a key, or nil if the map does not have it.
    @inline(__always)
    func value<Key: CodingKey>(_ key: Key) -> CBORIndex.Item? {
        if let box = unsafe box, let keys = unsafe keys, unsafe keys.pointee.isOrdinal {
            let ordinal = KeyOrdinal.of(key)
            let bit: UInt64 = ordinal < KeyName.ordinalsMax ? 1 << UInt64(ordinal) : 0
            if unsafe box.pointee.known & bit != 0, core.isOpen {
                return unsafe box.pointee.present & bit != 0 ? box.pointee.values[ordinal] : nil
            }
        }
        return searchedValue(key)
    }

    @inline(never)
    private func searchedValue<Key: CodingKey>(_ key: Key) -> CBORIndex.Item? {
        let text = key.stringValue
        if let keys = unsafe keys, unsafe keys.pointee.isOrdinal {
            unsafe keys.pointee.learn(text, ordinal: KeyOrdinal.of(key))
        }
        return core.find(text, in: item)
    }

    /// The text keys of the map for which `Key` has a value.
    ///
    /// The compiler codes an enum as a map of one entry, and reads its keys to find the case. The answer is kept, because a new
    /// array for each value would cost as much as reading a small event.
    @inline(__always)
    func allKeys<Key: CodingKey>() -> [Key] {
        guard let kept = unsafe keptKeys, let answer = unsafe kept.pointee else { return readKeys() }
        // The answers for a type of keys are of this class.
        return unsafe unsafeDowncast(answer, to: KeptKeys<Key>.self).keys
    }

    /// The memory for the answer for a map of one entry with a known key.
    private var keptKeys: UnsafeMutablePointer<AnyObject?>? {
        guard let keys = unsafe keys, let box = unsafe box, core.isOpen else { return nil }
        let present = unsafe box.pointee.present & box.pointee.known
        guard present.nonzeroBitCount == 1, unsafe core.index.containers[Int(item.container)].count == 1 else {
            return nil
        }
        return unsafe keys.pointee.keptKeys + present.trailingZeroBitCount
    }

    @inline(never)
    private func readKeys<Key: CodingKey>() -> [Key] {
        guard var (key, count) = try? core.openMap(item) else { return [] }
        var all: [Key] = []
        while count > 0 {
            if let text = try? core.string(key), let known = Key(stringValue: text) { all.append(known) }
            key = core.index.after(core.index.after(key))
            count -= 1
        }
        if let kept = unsafe keptKeys { unsafe kept.pointee = KeptKeys(all) }
        return all
    }
}

/// A kept answer to `allKeys`.
private final class KeptKeys<Key: CodingKey> {
    let keys: [Key]

    init(_ keys: [Key]) { self.keys = keys }
}
