// Unsafe: the coding state lives until `end()` gives it back, and every handle is checked against its serial number;
// kept boxes are never moved.

/// Which node a keyed container writes to, whatever its type of keys.
@safe struct EncodingPlace {
    /// What is known about the type of keys; nil where there was no room for it.
    let keys: UnsafeMutablePointer<EncodingKeys>?
    let core: EncodingCore
    /// The kept box that this is in, where the node is found then; nil if it is in none and has its own.
    let box: UnsafeMutablePointer<EncodingKeys.Box>?
    private let ownNode: Int32
    private let ownSerial: UInt32

    init(
        core: EncodingCore, keys: UnsafeMutablePointer<EncodingKeys>?, box: UnsafeMutablePointer<EncodingKeys.Box>?,
        node: Int32, serial: UInt32
    ) {
        self.core = core
        unsafe self.keys = unsafe keys
        unsafe self.box = unsafe box
        ownNode = node
        ownSerial = serial
    }

    var node: (number: Int, serial: UInt32) {
        @inline(__always) get {
            guard let box = unsafe box else { return (Int(ownNode), ownSerial) }
            return unsafe (Int(box.pointee.node), box.pointee.serial)
        }
    }
}
