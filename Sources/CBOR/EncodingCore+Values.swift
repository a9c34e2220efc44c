// Unsafe: the coding state lives until `end()` gives it back, and every handle is checked against its serial number; a
// bit cast follows a test that both types are the same.

/// Writing one value of any type to the log.
extension EncodingCore {
    /// Writes the final bytes of a value. The node and the key or index say where it stands, for coding paths.
    ///
    /// The types below are written without going through their own `encode(to:)`, because that costs a container each;
    /// Dictionary, Set, Array and Optional because theirs would not be deterministic, packed or lossless.
    @inline(__always)
    func encode<T: Encodable>(_ value: T, in node: Int, keyStartOrIndex: Int, keyLength: Int) throws {
        if T.self == String.self { return unsafe log.text(unsafeBitCast(value, to: String.self)) }
        if T.self == Int.self { return unsafe log.signed(Int64(unsafeBitCast(value, to: Int.self))) }
        let shape = unsafe CodingShape.of(T.self, state.pointee.shapes, state.pointee.spareShape)
        switch unsafe shape.pointee.kind {
        case .plain:
            try encodeChild(value, in: node, keyStartOrIndex: keyStartOrIndex, keyLength: keyLength)
        case .scalar:
            encodeScalar(value)
        case .collection:
            try unsafe encodeCollection(value, shape, in: node, keyStartOrIndex: keyStartOrIndex, keyLength: keyLength)
        case .wire:
            guard let coding = unsafe shape.pointee.wireCoding else { return }
            try unsafe unsafeDowncast(coding, to: TypedCoding<T>.self)
                .write(value, self, in: node, keyStartOrIndex: keyStartOrIndex, keyLength: keyLength)
        }
    }

    /// Lets a value encode itself behind a node of its own, and seals the node.
    func encodeChild<T: Encodable>(_ value: T, in node: Int, keyStartOrIndex: Int, keyLength: Int) throws {
        let (nodesBefore, entriesBefore, floorBefore, start) = (nodeCount, entryCount, floor, log.count)
        let spansBefore = unsafe state.pointee.spanCount
        let child = newNode(
            parent: node, keyStartOrIndex: keyStartOrIndex, keyLength: keyLength, depth: innerDepth(of: node))
        floor = child
        defer {
            floor = floorBefore
            nodeCount = nodesBefore
            entryCount = entriesBefore
            unsafe state.pointee.spanCount = spansBefore
            unsafe state.pointee.quickBox = nil
        }
        do {
            try value.encode(to: CBOREncoder(core: self, node: child))
            if hasFailed, let failure { throw failure }
        } catch {
            log.count = start
            throw error
        }
        seal(child)
    }

    /// Opens a container that is not the encoding of a value of its own: the content of a recognised collection.
    func encodeContainer(
        _ kind: Node.Kind, in node: Int, keyStartOrIndex: Int, keyLength: Int, _ fill: (Int) throws -> Void
    ) throws {
        let (nodesBefore, entriesBefore, floorBefore, start) = (nodeCount, entryCount, floor, log.count)
        let child = newNode(
            parent: node, keyStartOrIndex: keyStartOrIndex, keyLength: keyLength, depth: innerDepth(of: node))
        floor = child
        defer {
            floor = floorBefore
            nodeCount = nodesBefore
            entryCount = entriesBefore
        }
        do {
            unsafe open(child, nodes[child].serial, as: kind)
            if hasFailed, let failure { throw failure }
            try fill(child)
            seal(child)
            if hasFailed, let failure { throw failure }
        } catch {
            log.count = start
            throw error
        }
    }

    /// How many containers are around what stands in this node.
    func innerDepth(of node: Int) -> Int32 {
        guard node >= 0 else { return 0 }
        return unsafe nodes[node].depth + (nodes[node].kind.isContainer ? 1 : 0)
    }

    private func encodeCollection<T: Encodable>(
        _ value: T, _ shape: UnsafeMutablePointer<CodingShape>, in node: Int, keyStartOrIndex: Int, keyLength: Int
    ) throws {
        if T.self == [UInt8].self {
            return unsafe unsafeBitCast(value, to: [UInt8].self).withUnsafeBufferPointer { unsafe log.byteString($0) }
        }
        if T.self == [Int].self {
            let numbers = unsafe unsafeBitCast(value, to: [Int].self)
            try checkDepth(node)
            log.head(0x80, UInt64(numbers.count))
            for number in numbers { log.signed(Int64(number)) }
            return
        }
        if T.self == [String].self {
            let texts = unsafe unsafeBitCast(value, to: [String].self)
            try checkDepth(node)
            log.head(0x80, UInt64(texts.count))
            for text in texts { log.text(text) }
            return
        }
        if T.self == [Double].self {
            let numbers = unsafe unsafeBitCast(value, to: [Double].self)
            try checkDepth(node)
            log.head(0x80, UInt64(numbers.count))
            for number in numbers { log.float(number) }
            return
        }
        guard let type = unsafe shape.pointee.encodable else {
            return try encodeChild(value, in: node, keyStartOrIndex: keyStartOrIndex, keyLength: keyLength)
        }
        try unsafe withUnsafePointer(to: value) { place in
            try unsafe type.encode(
                at: place, to: self, in: node, keyStartOrIndex: keyStartOrIndex, keyLength: keyLength)
        }
    }

    /// Throws if one more container does not fit here.
    private func checkDepth(_ node: Int) throws {
        guard innerDepth(of: node) < depthMax else { throw WireError.tooDeep(limit: depthMax, offset: log.count) }
    }

    private func encodeScalar<T>(_ value: T) {
        if T.self == Bool.self { return unsafe log.byte(unsafeBitCast(value, to: Bool.self) ? 0xF5 : 0xF4) }
        if T.self == Double.self { return unsafe log.float(unsafeBitCast(value, to: Double.self)) }
        if T.self == UInt64.self { return unsafe log.head(0, unsafeBitCast(value, to: UInt64.self)) }
        if T.self == UInt8.self { return unsafe log.head(0, UInt64(unsafeBitCast(value, to: UInt8.self))) }
        if T.self == UInt32.self { return unsafe log.head(0, UInt64(unsafeBitCast(value, to: UInt32.self))) }
        if T.self == UInt16.self { return unsafe log.head(0, UInt64(unsafeBitCast(value, to: UInt16.self))) }
        if T.self == UInt.self { return unsafe log.head(0, UInt64(unsafeBitCast(value, to: UInt.self))) }
        if T.self == Int64.self { return unsafe log.signed(unsafeBitCast(value, to: Int64.self)) }
        if T.self == Int32.self { return unsafe log.signed(Int64(unsafeBitCast(value, to: Int32.self))) }
        if T.self == Int16.self { return unsafe log.signed(Int64(unsafeBitCast(value, to: Int16.self))) }
        if T.self == Int8.self { return unsafe log.signed(Int64(unsafeBitCast(value, to: Int8.self))) }
        if T.self == Float.self { return unsafe log.float(unsafeBitCast(value, to: Float.self)) }
        preconditionFailure("\(T.self) is called a scalar by CodingShape, and no form is known for it")
    }
}
