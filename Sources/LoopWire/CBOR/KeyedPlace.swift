import LoopCore

/// Which map a keyed container reads, whatever its type of keys.
struct KeyedPlace {
    /// What is known about the type of keys; nil where there was no room for it.
    let keys: UnsafeMutablePointer<DecodingKeys>?
    /// Of the document that this was made for.
    private let ownCore: DecodingCore
    /// Which of the kept boxes this is in, where the map is found then; −1 if it is in none and has its own.
    let box: Int32
    private let ownItem: CBORIndex.Item

    init(core: DecodingCore, keys: UnsafeMutablePointer<DecodingKeys>?, box: Int32, ownItem: CBORIndex.Item) {
        ownCore = core
        self.keys = keys
        self.box = box
        self.ownItem = ownItem
    }

    var core: DecodingCore {
        @inline(__always) get {
            guard box >= 0, let keys else { return ownCore }
            return DecodingCore(state: ownCore.state, serial: keys.pointee.boxes[Int(box)].serial)
        }
    }

    var item: CBORIndex.Item {
        @inline(__always) get {
            guard box >= 0, let keys else { return ownItem }
            return keys.pointee.boxes[Int(box)].item
        }
    }

    /// The first two words in memory, by which a box that holds this is known.
    var words: (UInt, UInt) { (UInt(bitPattern: keys), UInt(bitPattern: ownCore.state)) }

    /// The answer to `allKeys` that is kept for a map of one entry, the name of an enum's case.
    static let keptKeys: KeptKeys.Reader = { address in
        let place = address.assumingMemoryBound(to: KeyedPlace.self).pointee
        guard let keys = place.keys, let number = place.core.knownOneKey(in: place.item, keys) else { return nil }
        return UnsafeRawPointer(Unmanaged.passUnretained(keys.pointee.oneKeys[number].keys).toOpaque())
    }
}
