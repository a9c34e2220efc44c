// Unsafe: the coding state lives until `end()` gives it back, and every handle is checked against its serial number.

/// The one value of an encoder.
struct CBORSingleEncoding: SingleValueEncodingContainer {
    let core: EncodingCore
    let node: Int32
    let serial: UInt32

    var codingPath: [any CodingKey] { core.codingPath(of: Int(node), serial) }

    @inline(__always)
    private func put(_ write: (EncodingCore) throws -> Void) throws {
        try core.check(Int(node), serial, .unset)
        let start = core.log.count
        unsafe core.nodes[Int(node)].kind = .single
        unsafe core.nodes[Int(node)].start = start
        unsafe core.nodes[Int(node)].runStart = start
        unsafe core.nodes[Int(node)].tail = start
        do {
            try write(core)
        } catch {
            unsafe core.nodes[Int(node)].kind = .unset
            throw error
        }
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
        let here = unsafe core.nodes[Int(node)]
        try put {
            try $0.encodeAside(value, in: Int(node), keyStartOrIndex: here.keyStartOrIndex, keyLength: -1)
        }
    }
}
