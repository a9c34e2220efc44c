/// The encoder that a value's `encode(to:)` gets. It only names the value's node.
struct CBOREncoder: Encoder {
    let handle: NodeHandle

    var codingPath: [any CodingKey] { handle.codingPath }

    var userInfo: [CodingUserInfoKey: Any] { handle.core.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        handle.core.keyedContainer(type, handle)
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        handle.open(as: .array)
        return CBORUnkeyedEncoding(handle: handle)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { CBORSingleEncoding(handle: handle) }
}

/// The one value of an encoder.
struct CBORSingleEncoding: SingleValueEncodingContainer {
    let handle: NodeHandle

    private var core: EncodingCore { handle.core }
    private var node: Int { handle.node }

    var codingPath: [any CodingKey] { handle.codingPath }

    @inline(__always)
    private func put(_ write: () throws -> Void) throws {
        try core.check(node, handle.serial, .unset)
        let start = core.log.count
        core.nodes[node].kind = .single
        core.nodes[node].start = start
        core.nodes[node].runStart = start
        core.nodes[node].tail = start
        do {
            try write()
        } catch {
            core.nodes[node].kind = .unset
            throw error
        }
        core.addValue(node, start: start)
    }

    func encodeNil() throws { try put { core.log.byte(0xF6) } }

    @inline(__always)
    func encode<Scalar: CBORScalar>(_ value: Scalar) throws { try put { value.write(to: &core.log) } }

    func encode<T: Encodable>(_ value: T) throws { try put { try core.encodeAside(value, at: .inside(node)) } }
}

/// The elements of an array, in the order in which they are written.
struct CBORUnkeyedEncoding: UnkeyedEncodingContainer {
    let handle: NodeHandle

    private var core: EncodingCore { handle.core }
    private var node: Int { handle.node }

    var codingPath: [any CodingKey] { handle.codingPath }

    /// The number of elements that were written, or 0 once the array's value is encoded.
    var count: Int { core.isLive(node, handle.serial) ? core.nodes[node].count : 0 }

    @inline(__always)
    private func put(_ write: () throws -> Void) throws {
        try core.check(node, handle.serial, .array)
        let start = core.log.count
        try write()
        core.addValue(node, start: start)
    }

    func encodeNil() throws { try put { core.log.byte(0xF6) } }

    @inline(__always)
    func encode<Scalar: CBORScalar>(_ value: Scalar) throws { try put { value.write(to: &core.log) } }

    func encode<T: Encodable>(_ value: T) throws {
        try put { try core.encodeAside(value, at: .element(count, of: node)) }
    }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        child().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { child().unkeyedContainer() }

    func superEncoder() -> any Encoder { child() }

    private func child() -> CBOREncoder {
        handle.child(in: .array) {
            let child = core.newNode(at: .element(count, of: node))
            core.addChild(node, child: child)
            return child
        }
    }
}
