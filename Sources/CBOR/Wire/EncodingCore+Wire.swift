// Unsafe: a key is written only if there is space for it. A static string's bytes are never freed.

/// The methods by which a ``WireWriter`` writes to the log.
extension EncodingCore {
    /// Writes a value of a type that writes itself.
    @inline(__always)
    func encodeWire<Value: WireCodable>(_ value: Value, at position: ValuePosition) throws {
        let start = log.count
        var writer = WireWriter(self, at: position)
        do {
            try value.encode(to: &writer)
            if writer.count != 1 { notOne(writer.count, position.node) }
            try throwFailure()
        } catch {
            log.count = start
            throw error
        }
    }

    @inline(never)
    private func notOne(_ count: Int, _ node: Int?) {
        if count == 0 { return log.byte(0xA0) }
        fail("a value was written as \(count) values", node)
    }

    @inline(__always)
    func wireMap(at position: ValuePosition, _ fill: (inout WireWriter.Map) throws -> Void) rethrows {
        try wireContainer(.map, at: position) { node in
            var map = WireWriter.Map(core: self, node: node)
            try fill(&map)
        }
    }

    @inline(__always)
    func wireArray(at position: ValuePosition, _ fill: (inout WireWriter) throws -> Void) rethrows {
        try wireContainer(.array, at: position) { node in
            var elements = WireWriter(self, elementsOf: node)
            try fill(&elements)
        }
    }

    /// Opens a container, calls `fill`, and seals the container.
    @inline(__always)
    private func wireContainer(_ kind: Node.Kind, at position: ValuePosition, _ fill: (Int) throws -> Void) rethrows {
        try withNode(at: position) { child in
            open(child, nodes[child].serial, as: kind)
            // A container that did not open is nested too deep, or something failed before. The encoding throws in the end.
            guard nodes[child].kind == kind else { return }
            try fill(child)
            seal(child)
        }
    }

    /// Writes a key as text. Returns the first 8 bytes of its encoding, with the first byte in the highest bits and zeros after a
    /// shorter one.
    ///
    /// The bytes are combined here and stored at once, because reading them back from pieces that were just written would stall.
    @inline(__always)
    func key(_ key: StaticString) -> UInt64 {
        let count = key.utf8CodeUnitCountIfText
        guard count > 0, count < 24 else { return longKey(key) }
        log.reserve(24)
        let place = unsafe log.base + log.count
        let text = unsafe UnsafeRawPointer(key.utf8Start)
        var first: UInt64
        if count >= 8 {
            first = unsafe UInt64(littleEndian: text.loadUnaligned(as: UInt64.self))
            unsafe RawBuffer.copy(short: key.utf8Start, to: place + 1, count)
        } else if count >= 4 {
            let low = unsafe UInt64(UInt32(littleEndian: text.loadUnaligned(as: UInt32.self)))
            let high = unsafe UInt64(
                UInt32(littleEndian: text.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)))
            first = low | high &<< UInt64(8 &* (count &- 4))
        } else {
            first = unsafe UInt64(key.utf8Start[0]) | UInt64(key.utf8Start[count &- 1]) &<< UInt64(8 &* (count &- 1))
            unsafe first |= UInt64(key.utf8Start[count &>> 1]) &<< UInt64(8 &* (count &>> 1))
        }
        let word = first &<< 8 | UInt64(0x60 | count)
        unsafe UnsafeMutableRawPointer(place).storeBytes(of: word.littleEndian, as: UInt64.self)
        log.count += 1 + count
        return word.byteSwapped
    }

    @inline(never)
    private func longKey(_ key: StaticString) -> UInt64 {
        let start = log.count
        unsafe WireReader.withText(key) { unsafe log.text($0) }
        return keyPrefix(start, log.count - start)
    }
}

extension StaticString {
    /// The number of bytes of text that it points to, or 0 if it is a single scalar, which it stores itself.
    @inline(__always)
    fileprivate var utf8CodeUnitCountIfText: Int { hasPointerRepresentation ? utf8CodeUnitCount : 0 }
}
