// Unsafe: the document's memory and its index do not change until `close()`, and every handle is checked against its
// serial number.

/// Reads one value of a document. The document was checked before: its form is right and within the limits.
public struct WireReader {
    let core: DecodingCore
    let item: CBORIndex.Item

    /// Whether the value is null.
    ///
    /// - Throws: `WireError` if the document was already closed.
    public var isNull: Bool {
        get throws { try core.isNull(item) }
    }

    /// Reads a boolean.
    ///
    /// - Throws: `WireError` if the value is of another kind.
    public func read() throws -> Bool { try core.bool(item) }

    /// Reads an integer.
    ///
    /// - Throws: `WireError` if the value is of another kind, or does not fit.
    public func read() throws -> Int { try core.integer(Int.self, item) }

    /// Reads an integer.
    ///
    /// - Throws: `WireError` if the value is of another kind, or does not fit.
    public func read() throws -> UInt64 { try core.integer(UInt64.self, item) }

    /// Reads a number.
    ///
    /// - Throws: `WireError` if the value is of another kind.
    public func read() throws -> Double { try core.double(item) }

    /// Reads text.
    ///
    /// - Throws: `WireError` if the value is of another kind.
    public func read() throws -> String { try core.string(item) }

    /// Reads a byte string.
    ///
    /// - Throws: `WireError` if the value is of another kind.
    public func read() throws -> [UInt8] { try core.bytes(item) }

    /// Lends a byte string without a copy, if it is in one piece.
    ///
    /// - Throws: `WireError` if the value is of another kind, and what `body` throws.
    @inlinable
    public func readBytes<Result>(_ body: (RawSpan) throws -> Result) throws -> Result {
        if let lying = try unsafe lyingBytes() { return try unsafe body(lying.bytes) }
        return try unsafe read().withUnsafeBytes { try unsafe body($0.bytes) }
    }

    /// A byte string in the document, or nil if it is in pieces or in another form.
    @usableFromInline
    func lyingBytes() throws -> UnsafeRawBufferPointer? {
        let head = try core.head(item)
        guard head.major == 2, !head.isIndefinite else { return nil }
        return unsafe UnsafeRawBufferPointer(start: core.index.base + head.content, count: Int(head.argument))
    }

    /// Reads any other value, of a `Codable` or ``WireCodable`` type.
    ///
    /// - Throws: what the type's `init(from:)` throws.
    public func read<Value: Decodable>() throws -> Value { try core.decode(Value.self, at: item) }

    /// Reads an array, each element by `element`.
    ///
    /// - Throws: `WireError` if the value is of another kind, and what `element` throws.
    public func array<Value>(_ element: (inout WireReader) throws -> Value) throws -> [Value] {
        try core.values(item) {
            var reader = WireReader(core: core, item: $0)
            return try element(&reader)
        }
    }

    /// Reads a map with text keys.
    ///
    /// - Throws: `WireError` if the value is of another kind.
    public func map() throws -> Map {
        _ = try core.openMap(item)
        return Map(core: core, item: item)
    }

    /// Reads an enum's case, as ``WireWriter/choice(_:_:)`` writes it: its name, and a map of its values.
    ///
    /// - Throws: `WireError` if the value is not a map of one entry with a text key and a map.
    public func choice() throws -> Choice {
        let (name, count) = try core.open(item, major: 5, [String: Any].self, "a map of one entry")
        guard count == 1, try core.head(name).major == 3 else {
            throw core.mismatch([String: Any].self, "a map of one entry with a text key", item)
        }
        let values = core.index.after(name)
        _ = try core.openMap(values)
        return Choice(name: Name(core: core, item: name), values: Map(core: core, item: values))
    }

    /// The name of a case, for a switch over literals.
    public struct Name {
        let core: DecodingCore
        let item: CBORIndex.Item

        /// The name as text.
        public var text: String { (try? core.string(item)) ?? "?" }

        /// Whether the name is this one.
        public static func ~= (pattern: StaticString, name: Name) -> Bool {
            unsafe name.core.isOpen && WireReader.withText(pattern) { unsafe name.core.isText($0, name.item) }
        }
    }

    /// An enum's case.
    public struct Choice {
        /// The name of the case.
        public let name: Name
        /// Its values by label, or by `_0`, `_1` and so on if they have none.
        public let values: Map

        /// The error for a name that is no case of the type.
        public func unknown<Value>(_ type: Value.Type) -> WireError {
            let why = "\(type) has no case \(CBORText.quoted(CBORPath.shortened(name.text)))"
            return .refused(path: CBORPath.text(name.core.codingPath(of: values.item)), why: why)
        }
    }

    @inline(__always)
    static func withText<R>(_ text: StaticString, _ body: (UnsafeBufferPointer<UInt8>) throws -> R) rethrows -> R {
        guard text.hasPointerRepresentation else {
            var text = "\(text)"
            return try text.withUTF8(body)
        }
        return try unsafe body(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
