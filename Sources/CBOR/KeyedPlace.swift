// Unsafe: the document's memory and its index stay as they are until `close()`, and every handle is checked against its
// serial number; kept boxes are never moved.

/// Which map a keyed container reads, whatever its type of keys.
@safe struct KeyedPlace {
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
}
