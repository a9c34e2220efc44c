/// What a ``WireWriter`` does to the log.
extension EncodingCore {
    /// Writes a value of a type that was found to write itself.
    func encodeWire(
        _ type: any WireCodable.Type, at place: UnsafeRawPointer, in node: Int, keyStartOrIndex: Int, keyLength: Int
    ) throws {
        try oneWireValue(in: node, keyStartOrIndex: keyStartOrIndex, keyLength: keyLength) {
            try type.write(place, to: &$0)
        }
    }

    /// Writes a value of a type that is known to write itself.
    @inline(__always)
    func encodeWire<Value: WireCodable>(
        _ value: Value, in node: Int, keyStartOrIndex: Int, keyLength: Int
    ) throws {
        try oneWireValue(in: node, keyStartOrIndex: keyStartOrIndex, keyLength: keyLength) { try value.encode(to: &$0) }
    }

    @inline(__always)
    private func oneWireValue(
        in node: Int, keyStartOrIndex: Int, keyLength: Int, _ write: (inout WireWriter) throws -> Void
    ) throws {
        let start = log.count
        var writer = WireWriter(self, in: node, keyStartOrIndex: keyStartOrIndex, keyLength: keyLength, isArray: false)
        do {
            try write(&writer)
            if writer.count != 1 { notOne(writer.count, node) }
            if hasFailed, let failure { throw failure }
        } catch {
            log.count = start
            throw error
        }
    }

    @inline(never)
    private func notOne(_ count: Int, _ node: Int) {
        if count == 0 { return log.byte(0xA0) }
        fail("a value was written as \(count) values", node)
    }

    /// Opens a container, lets it be filled, and seals it.
    @inline(__always)
    func wireContainer(
        _ kind: Node.Kind, in node: Int, keyStartOrIndex: Int, keyLength: Int,
        _ fill: (EncodingCore, Int) throws -> Void
    ) rethrows {
        let (nodesBefore, entriesBefore, floorBefore) = (nodeCount, entryCount, floor)
        let child = newNode(
            parent: node, keyStartOrIndex: keyStartOrIndex, keyLength: keyLength, depth: innerDepth(of: node))
        floor = child
        defer {
            floor = floorBefore
            nodeCount = nodesBefore
            entryCount = entriesBefore
        }
        open(child, nodes[child].serial, as: kind)
        // One that did not open is nested too deep, or something failed before: the encoding throws in the end.
        guard nodes[child].kind == kind else { return }
        try fill(self, child)
        seal(child)
    }

    /// Writes a key as text.
    @inline(__always)
    func key(_ key: StaticString) {
        if key.hasPointerRepresentation {
            log.text(UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount))
        } else {
            log.text("\(key)")
        }
    }
}
