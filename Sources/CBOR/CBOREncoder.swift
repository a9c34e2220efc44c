// Unsafe: the coding state lives until `end()` gives it back, and every handle is checked against its serial number.

/// What a value's `encode(to:)` is given: a name for its node, no more.
struct CBOREncoder: Encoder {
    let core: EncodingCore
    let node: Int32
    let serial: UInt32

    @inline(__always)
    init(core: EncodingCore, node: Int) {
        self.core = core
        self.node = Int32(truncatingIfNeeded: node)
        serial = unsafe core.nodes[node].serial
    }

    init(core: EncodingCore, node: Int32, serial: UInt32) {
        self.core = core
        self.node = node
        self.serial = serial
    }

    var codingPath: [any CodingKey] { core.codingPath(of: Int(node), serial) }

    var userInfo: [CodingUserInfoKey: Any] { core.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        core.keyedContainer(type, node, serial)
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        core.open(Int(node), serial, as: .array)
        return CBORUnkeyedEncoding(core: core, node: node, serial: serial)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        CBORSingleEncoding(core: core, node: node, serial: serial)
    }
}
