// Unsafe: the coding state lives until `end()` gives it back, and every handle is checked against its serial number.
// Kept boxes are never moved.

/// The node that a keyed container writes to, independent of its type of keys.
@safe struct EncodingPlace {
    /// What is known about the type of keys, or nil if the table was full.
    let keys: UnsafeMutablePointer<EncodingKeys>?
    /// The kept box that has the node, or nil if this value has the node itself.
    let box: UnsafeMutablePointer<EncodingKeys.Box>?
    private let ownHandle: NodeHandle

    init(
        _ handle: NodeHandle, keys: UnsafeMutablePointer<EncodingKeys>?, box: UnsafeMutablePointer<EncodingKeys.Box>?
    ) {
        unsafe self.keys = unsafe keys
        unsafe self.box = unsafe box
        ownHandle = handle
    }

    var core: EncodingCore { ownHandle.core }

    var handle: NodeHandle {
        @inline(__always) get {
            guard let box = unsafe box else { return ownHandle }
            return unsafe NodeHandle(core: core, node: box.pointee.node, serial: box.pointee.serial)
        }
    }
}

/// Entries with known keys, without generic code for the type of keys.
///
/// This is most of the work of encoding a struct: a key's bytes, the value's bytes, and a note of their positions. Each function
/// returns false and writes nothing if the key must be written the general way.
extension EncodingPlace {
    /// The node and the bit of a known key that can be written directly.
    @inline(__always)
    private func open(_ ordinal: Int) -> (node: Int, bit: UInt64, name: UnsafePointer<KeyName>)? {
        guard let box = unsafe box, unsafe box == core.state.pointee.quickBox, let keys = unsafe keys,
            ordinal < KeyName.ordinalsMax
        else { return nil }
        let node = unsafe core.state.pointee.quickNode
        let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: ordinal)
        guard core.nodes[node].openKeys & bit != 0 else { return nil }
        return unsafe (node, bit, UnsafePointer(keys.pointee.names + ordinal))
    }

    /// Notes that a known key was written with its value, which are the log from `start` on.
    @inline(__always)
    private func close(_ node: Int, _ bit: UInt64, _ ordinal: Int, start: Int) {
        core.nodes[node].openKeys ^= bit
        core.spans[core.nodes[node].spans &+ ordinal] = EncodingCore.Span(start: start, end: core.log.count)
    }

    /// Writes a known key and then the value by `write`, at most `room` bytes. `write` returns the end of its bytes.
    @inline(__always)
    private func put(
        _ ordinal: Int, room: Int, _ write: (UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8>
    ) -> Bool {
        guard let (node, bit, name) = unsafe open(ordinal) else { return false }
        core.log.reserve(room &+ 24)
        let (base, start) = unsafe (core.log.base, core.log.count)
        unsafe name.pointee.store(at: base + start)
        core.log.count = unsafe write(base + (start &+ Int(name.pointee.length))) - base
        close(node, bit, ordinal, start: start)
        return true
    }

    @inline(never)
    func put(_ ordinal: Int, simple value: UInt8) -> Bool {
        unsafe put(ordinal, room: 1) {
            unsafe $0[0] = value
            return unsafe $0 + 1
        }
    }

    @inline(never)
    func put(_ ordinal: Int, signed value: Int64) -> Bool {
        // The complement of a negative number is −1 − n, which is its argument.
        let sign = value >> 63
        return unsafe put(ordinal, room: 9) {
            unsafe RawBuffer.head(at: $0, 0x20 & UInt8(truncatingIfNeeded: sign), UInt64(bitPattern: value ^ sign))
        }
    }

    @inline(never)
    func put(_ ordinal: Int, unsigned value: UInt64) -> Bool {
        unsafe put(ordinal, room: 9) { unsafe RawBuffer.head(at: $0, 0, value) }
    }

    @inline(never)
    func put(_ ordinal: Int, float value: Double) -> Bool {
        unsafe put(ordinal, room: 9) { unsafe RawBuffer.float(at: $0, value) }
    }

    @inline(never)
    func put(_ ordinal: Int, text value: String) -> Bool {
        if let isPut = unsafe value.utf8.withContiguousStorageIfAvailable({ unsafe put(ordinal, text: $0) }) {
            return isPut
        }
        var value = value
        return value.withUTF8 { unsafe put(ordinal, text: $0) }
    }

    @inline(__always)
    private func put(_ ordinal: Int, text utf8: UnsafeBufferPointer<UInt8>) -> Bool {
        unsafe put(ordinal, room: utf8.count &+ 9) { place in
            let text = unsafe RawBuffer.head(at: place, 0x60, UInt64(utf8.count))
            if let start = utf8.baseAddress { unsafe RawBuffer.copy(short: start, to: text, utf8.count) }
            return unsafe text + utf8.count
        }
    }

    /// Writes a known key and a value of any type. If that throws, nothing is written.
    @inline(never)
    func put<T: Encodable>(_ ordinal: Int, value: T) throws -> Bool {
        guard let (node, bit, name) = unsafe open(ordinal) else { return false }
        let start = core.log.count
        unsafe core.log.name(name)
        do {
            try unsafe core.encodeAside(
                value, at: .entry(keyStart: start, keyLength: Int(name.pointee.length), of: node))
        } catch {
            core.log.count = start
            throw error
        }
        close(node, bit, ordinal, start: start)
        return true
    }
}

/// Entries with any key.
extension EncodingPlace {
    /// Writes a key, and then the value that `write` writes. If that throws, nothing is written.
    @inline(__always)
    func put<Key: CodingKey>(_ key: Key, _ write: (ValuePosition) throws -> Void) throws {
        let handle = handle
        try core.check(handle.node, handle.serial, .map)
        let start = core.log.count
        writeKey(key)
        let keyLength = core.log.count - start
        do {
            try write(.entry(keyStart: start, keyLength: keyLength, of: handle.node))
        } catch {
            core.log.count = start
            throw error
        }
        core.addEntry(handle.node, start: start, keyLength: keyLength)
    }

    /// An encoder for the value of a key that `writeKey` writes.
    @inline(__always)
    func child(_ writeKey: () -> Void) -> CBOREncoder {
        let handle = handle
        return handle.child(in: .map) {
            let start = core.log.count
            writeKey()
            let keyLength = core.log.count - start
            let child = core.newNode(at: .entry(keyStart: start, keyLength: keyLength, of: handle.node))
            core.addEntry(handle.node, start: start, keyLength: keyLength, child: child)
            return child
        }
    }

    @inline(__always)
    func writeKey<Key: CodingKey>(_ key: Key) {
        if let keys = unsafe keys, unsafe keys.pointee.isOrdinal {
            let ordinal = KeyOrdinal.of(key)
            if ordinal < KeyName.ordinalsMax {
                let name = unsafe keys.pointee.names + ordinal
                if unsafe name.pointee.length > 0 { return unsafe core.log.name(name) }
            }
        }
        writeUnknown(key)
    }

    @inline(never)
    private func writeUnknown<Key: CodingKey>(_ key: Key) {
        let text = key.stringValue
        core.log.text(text)
        guard let keys = unsafe keys, unsafe keys.pointee.isOrdinal else { return }
        let ordinal = KeyOrdinal.of(key)
        if ordinal < KeyName.ordinalsMax { unsafe keys.pointee.learn(text, ordinal: ordinal) }
    }
}
