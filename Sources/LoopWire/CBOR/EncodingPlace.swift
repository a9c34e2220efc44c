import LoopCore

/// Which node a keyed container writes to, whatever its type of keys.
struct EncodingPlace {
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
        self.keys = keys
        self.box = box
        ownNode = node
        ownSerial = serial
    }

    var node: (number: Int, serial: UInt32) {
        @inline(__always) get {
            guard let box else { return (Int(ownNode), ownSerial) }
            return (Int(box.pointee.node), box.pointee.serial)
        }
    }

    /// The first two words in memory, by which a box that holds this is known.
    var words: (UInt, UInt) { (UInt(bitPattern: keys), UInt(bitPattern: core.state)) }
}

/// Writes the values of known keys for containers that are asked past the standard library.
enum QuickWriter: QuickEncoding {
    @inline(__always)
    private static func place(_ container: UnsafeRawPointer) -> UnsafePointer<EncodingPlace> {
        container.assumingMemoryBound(to: EncodingPlace.self)
    }

    static func put(_ container: UnsafeRawPointer, _ ordinal: Int, simple value: UInt8) -> Bool {
        EncodingCore.put(place(container), ordinal, simple: value)
    }

    static func put(_ container: UnsafeRawPointer, _ ordinal: Int, signed value: Int64) -> Bool {
        EncodingCore.put(place(container), ordinal, signed: value)
    }

    static func put(_ container: UnsafeRawPointer, _ ordinal: Int, unsigned value: UInt64) -> Bool {
        EncodingCore.put(place(container), ordinal, unsigned: value)
    }

    static func put(_ container: UnsafeRawPointer, _ ordinal: Int, float value: Double) -> Bool {
        EncodingCore.put(place(container), ordinal, float: value)
    }

    static func put(_ container: UnsafeRawPointer, _ ordinal: Int, text value: String) -> Bool {
        EncodingCore.put(place(container), ordinal, text: value)
    }

    static func put<T: Encodable>(_ container: UnsafeRawPointer, _ ordinal: Int, value: T) throws -> Bool {
        try EncodingCore.put(place(container), ordinal, value: value)
    }

    static func container<Inner: CodingKey>(
        _ container: UnsafeRawPointer, _ ordinal: Int, keyedBy type: Inner.Type
    ) -> UnsafeRawPointer? {
        let place = place(container)
        let core = place.pointee.core
        let (node, serial) = place.pointee.node
        guard let keys = place.pointee.keys, keys.pointee.isOrdinal, ordinal < KeyName.ordinalsMax,
            core.isLive(node, serial), core.nodes[node].kind == .map
        else { return nil }
        let name = keys.pointee.names + ordinal
        guard name.pointee.length > 0, let (inner, box) = core.freeBox(type) else { return nil }
        let start = core.log.count
        core.log.name(name)
        let child = core.newNode(
            parent: node, keyStartOrIndex: start, keyLength: Int(name.pointee.length), depth: core.innerDepth(of: node))
        core.addEntry(
            node, start: start, keyLength: Int(name.pointee.length), child: child, prefix: name.pointee.prefix)
        core.open(child, inner, box)
        return UnsafeRawPointer(Unmanaged.passUnretained(box.pointee.object).toOpaque())
    }
}
