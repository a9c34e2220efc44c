// Unsafe: one thread has the objects for types of keys, and none of their accesses calls another's code.

/// What a value's `encode(to:)` is given: a node that it writes to. It is refused once the value is encoded.
struct CBOREncoder: Encoder {
    let core: EncodingCore
    let node: Int
    let serial: UInt32

    init(_ core: EncodingCore, _ node: Int) {
        self.core = core
        self.node = node
        serial = core.nodes[node].serial
    }

    /// An encoder of no node, for a call that has no other way to refuse: writing to it throws.
    init(stray core: EncodingCore) {
        self.core = core
        node = 0
        // The first node has serial number 1.
        serial = 0
    }

    var codingPath: [any CodingKey] { core.codingPath(of: node, serial) }

    var userInfo: [CodingUserInfoKey: Any] { core.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        core.open(node, serial, as: .map)
        return core.keys(type).container(self)
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        core.open(node, serial, as: .array)
        return CBORUnkeyedEncoding(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { CBORSingleEncoding(encoder: self) }

    /// An encoder for a value in this container of a kind, or a stray one if it is no such container.
    fileprivate func child(in kind: EncodingCore.Node.Kind, key: String? = nil) -> CBOREncoder {
        guard core.isLive(node, serial), core.nodes[node].kind == kind else { return CBOREncoder(stray: core) }
        let start = core.log.count
        if let key { core.log.text(key) }
        let keyLength = core.log.count - start
        let child = core.newNode(
            at: kind == .array
                ? .element(core.nodes[node].count, of: node)
                : EncodingCore.Position(node: node, step: start, keyLength: keyLength))
        core.add(to: node, from: start, keyLength: keyLength, child: child)
        return CBOREncoder(core, child)
    }
}

/// The one value of an encoder.
private struct CBORSingleEncoding: SingleValueEncodingContainer {
    let encoder: CBOREncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    @inline(__always)
    private func put(_ write: (EncodingCore) throws -> Void) throws {
        let (core, node) = (encoder.core, encoder.node)
        try core.check(node, encoder.serial, .unset)
        let start = core.log.count
        core.nodes[node].kind = .single
        core.nodes[node].start = start
        core.nodes[node].end = start
        do {
            try write(core)
        } catch {
            core.nodes[node].kind = .unset
            throw error
        }
        core.add(to: node, from: start)
    }

    func encodeNil() throws { try put { $0.log.byte(0xF6) } }

    @inline(__always)
    func encode<Scalar: CBORScalar>(_ value: Scalar) throws { try put { value.write(to: &$0.log) } }

    func encode<T: Encodable>(_ value: T) throws { try put { try $0.encode(value, at: .inside(encoder.node)) } }
}

/// The elements of an array, in the order in which they are written.
private struct CBORUnkeyedEncoding: UnkeyedEncodingContainer {
    let encoder: CBOREncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    /// How many elements were written, or 0 once the array's value is encoded.
    var count: Int {
        encoder.core.isLive(encoder.node, encoder.serial) ? encoder.core.nodes[encoder.node].count : 0
    }

    @inline(__always)
    private func put(_ write: (EncodingCore) throws -> Void) throws {
        let core = encoder.core
        try core.check(encoder.node, encoder.serial, .array)
        let start = core.log.count
        try write(core)
        core.add(to: encoder.node, from: start)
    }

    func encodeNil() throws { try put { $0.log.byte(0xF6) } }

    @inline(__always)
    func encode<Scalar: CBORScalar>(_ value: Scalar) throws { try put { value.write(to: &$0.log) } }

    func encode<T: Encodable>(_ value: T) throws {
        try put { try $0.encode(value, at: .element(count, of: encoder.node)) }
    }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        encoder.child(in: .array).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.child(in: .array).unkeyedContainer() }

    func superEncoder() -> any Encoder { encoder.child(in: .array) }
}

/// The entries of a map with text keys, in any order: sealing sorts them.
struct CBORKeyedEncoding<Key: CodingKey>: CBORKeyedEncodingContainer {
    private let place: ContainerPlace<CBOREncoder>

    init(_ place: ContainerPlace<CBOREncoder>) { self.place = place }

    private var encoder: CBOREncoder {
        @inline(__always) get { place.handle }
    }

    var codingPath: [any CodingKey] { encoder.codingPath }

    /// Writes a key, and then the value that `write` writes. If that throws, nothing is written.
    @inline(__always)
    private func put(_ key: Key, _ write: (EncodingCore, EncodingCore.Position) throws -> Void) throws {
        let encoder = encoder
        let (core, node) = (encoder.core, encoder.node)
        try core.check(node, encoder.serial, .map)
        let start = core.log.count
        core.log.text(key.stringValue)
        let keyLength = core.log.count - start
        do {
            try write(core, EncodingCore.Position(node: node, step: start, keyLength: keyLength))
        } catch {
            core.log.count = start
            throw error
        }
        core.add(to: node, from: start, keyLength: keyLength)
    }

    func encodeNil(forKey key: Key) throws { try put(key) { core, _ in core.log.byte(0xF6) } }

    @inline(__always)
    func encode<Scalar: CBORScalar>(_ value: Scalar, forKey key: Key) throws {
        try put(key) { core, _ in value.write(to: &core.log) }
    }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try put(key) { try $0.encode(value, at: $1) } }

    func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type, forKey key: Key) -> KeyedEncodingContainer<Inner> {
        child(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { child(key).unkeyedContainer() }

    func superEncoder() -> any Encoder { encoder.child(in: .map, key: "super") }

    func superEncoder(forKey key: Key) -> any Encoder { child(key) }

    private func child(_ key: Key) -> CBOREncoder { encoder.child(in: .map, key: key.stringValue) }
}

/// A keyed container that is made of an encoder's place.
protocol CBORKeyedEncodingContainer: KeyedEncodingContainerProtocol {
    init(_ place: ContainerPlace<CBOREncoder>)
}

/// Makes containers of one type.
///
/// The type of a container is generic. Where it is not known at compile time, a function that makes one searches for its
/// description, which costs more than coding a small struct's fields. An object of this class has it in its own description.
final class EncodingKeys<Container: CBORKeyedEncodingContainer> {
    @exclusivity(unchecked) private var kept = KeptObjects<CBOREncoder>()
    private let copies = ContainerCopies<KeyedEncodingContainer<Container.Key>>()

    @inline(never)
    func container(_ encoder: CBOREncoder) -> KeyedEncodingContainer<Container.Key> {
        if let object = unsafe kept.unused(for: encoder) { return unsafe copies.copy(of: object) }
        return unsafe kept.new(for: encoder) { KeyedEncodingContainer(Container($0)) }
    }
}
