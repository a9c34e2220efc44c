// Unsafe: the coding state lives until `end()` gives it back, and every handle is checked against its serial number.

/// The elements of an array, in the order in which they are written.
struct CBORUnkeyedEncoding: UnkeyedEncodingContainer {
    let core: EncodingCore
    let node: Int32
    let serial: UInt32

    var codingPath: [any CodingKey] { core.codingPath(of: Int(node), serial) }

    var count: Int { unsafe core.isLive(Int(node), serial) ? core.nodes[Int(node)].count : 0 }

    @inline(__always)
    private func put(_ write: (EncodingCore) throws -> Void) throws {
        try core.check(Int(node), serial, .array)
        let start = core.log.count
        try write(core)
        core.addValue(Int(node), start: start)
    }

    func encodeNil() throws { try put { $0.log.byte(0xF6) } }
    func encode(_ value: Bool) throws { try put { $0.log.byte(value ? 0xF5 : 0xF4) } }
    func encode(_ value: String) throws { try put { $0.log.text(value) } }
    func encode(_ value: Double) throws { try put { $0.log.float(value) } }
    func encode(_ value: Float) throws { try put { $0.log.float(value) } }
    func encode(_ value: Int) throws { try put { $0.log.signed(Int64(value)) } }
    func encode(_ value: Int8) throws { try put { $0.log.signed(Int64(value)) } }
    func encode(_ value: Int16) throws { try put { $0.log.signed(Int64(value)) } }
    func encode(_ value: Int32) throws { try put { $0.log.signed(Int64(value)) } }
    func encode(_ value: Int64) throws { try put { $0.log.signed(value) } }
    func encode(_ value: UInt) throws { try put { $0.log.head(0, UInt64(value)) } }
    func encode(_ value: UInt8) throws { try put { $0.log.head(0, UInt64(value)) } }
    func encode(_ value: UInt16) throws { try put { $0.log.head(0, UInt64(value)) } }
    func encode(_ value: UInt32) throws { try put { $0.log.head(0, UInt64(value)) } }
    func encode(_ value: UInt64) throws { try put { $0.log.head(0, value) } }

    func encode<T: Encodable>(_ value: T) throws {
        try put { try $0.encodeAside(value, in: Int(node), keyStartOrIndex: count, keyLength: 0) }
    }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        superEncoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        superEncoder().unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        guard core.isLive(Int(node), serial), unsafe core.nodes[Int(node)].kind == .array else {
            return core.strayEncoder
        }
        let child = core.newNode(
            parent: Int(node), keyStartOrIndex: count, keyLength: 0, depth: core.innerDepth(of: Int(node)))
        core.addChild(Int(node), child: child)
        return CBOREncoder(core: core, node: child)
    }
}
