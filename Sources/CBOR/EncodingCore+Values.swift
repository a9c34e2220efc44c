// Unsafe: the coding state lives until `end()` gives it back.

/// Writes one value of any type to the log.
extension EncodingCore {
    /// Writes the final bytes of a value.
    ///
    /// Scalars are written without their `encode(to:)`, because that costs a container each. Dictionary, Set, Array and Optional
    /// are too, because theirs would not be deterministic, packed or lossless.
    @inline(__always)
    func encode<T: Encodable>(_ value: T, at position: ValuePosition) throws {
        try encoding(of: T.self).write(value, to: self, at: position)
    }

    /// Lets a value encode itself into a separate node.
    func encodeChild<T: Encodable>(_ value: T, at position: ValuePosition) throws {
        try withNode(at: position) { child in
            // No known key of an outer container is written now.
            defer { unsafe state.pointee.quickBox = nil }
            try value.encode(to: CBOREncoder(handle: NodeHandle(core: self, node: child)))
            try throwFailure()
            seal(child)
        }
    }

    /// Writes a container that is no separate value: the content of a collection.
    func encodeContainer(_ kind: Node.Kind, at position: ValuePosition, _ fill: (Int) throws -> Void) throws {
        try withNode(at: position) { child in
            open(child, nodes[child].serial, as: kind)
            try throwFailure()
            try fill(child)
            seal(child)
            try throwFailure()
        }
    }

    /// Makes a node for what `body` writes. If that throws, nothing is written.
    @inline(__always)
    func withNode(at position: ValuePosition, _ body: (Int) throws -> Void) rethrows {
        let (nodesBefore, entriesBefore, spansBefore) = (nodes.count, entries.count, spans.count)
        let (floorBefore, start) = (floor, log.count)
        let node = newNode(at: position)
        floor = node
        defer {
            floor = floorBefore
            nodes.count = nodesBefore
            entries.count = entriesBefore
            spans.count = spansBefore
        }
        do {
            try body(node)
        } catch {
            log.count = start
            throw error
        }
    }
}
