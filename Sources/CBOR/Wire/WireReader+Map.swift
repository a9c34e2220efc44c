// Unsafe: a static string's bytes are never freed.

extension WireReader {
    /// Reads the entries of a map, in any order. Other entries are skipped.
    public struct Map {
        let core: DecodingCore
        let item: CBORIndex.Item

        /// Whether the map has the key.
        public func contains(_ key: StaticString) -> Bool { value(key) != nil }

        /// Reads a boolean.
        ///
        /// - Throws: `WireError` if there is no entry for the key, or its value is of another kind.
        public func read(_ key: StaticString) throws -> Bool { try core.bool(find(key)) }

        /// Reads an integer.
        ///
        /// - Throws: `WireError` if there is no entry for the key, or its value is of another kind.
        public func read(_ key: StaticString) throws -> Int { try core.integer(Int.self, find(key)) }

        /// Reads an integer.
        ///
        /// - Throws: `WireError` if there is no entry for the key, or its value is of another kind.
        public func read(_ key: StaticString) throws -> UInt64 { try core.integer(UInt64.self, find(key)) }

        /// Reads a number.
        ///
        /// - Throws: `WireError` if there is no entry for the key, or its value is of another kind.
        public func read(_ key: StaticString) throws -> Double { try core.double(find(key)) }

        /// Reads text.
        ///
        /// - Throws: `WireError` if there is no entry for the key, or its value is of another kind.
        public func read(_ key: StaticString) throws -> String { try core.string(find(key)) }

        /// Reads a byte string.
        ///
        /// - Throws: `WireError` if there is no entry for the key, or its value is of another kind.
        public func read(_ key: StaticString) throws -> [UInt8] { try core.bytes(find(key)) }

        /// Reads any other value, of a `Codable` or ``WireCodable`` type.
        ///
        /// - Throws: `WireError` if there is no entry for the key, and what the type's `init(from:)` throws.
        public func read<Value: Decodable>(_ key: StaticString) throws -> Value {
            try core.decode(Value.self, at: find(key))
        }

        /// Reads a value. Returns nil for null or if there is no entry, as derived code does.
        ///
        /// - Throws: what the type's `init(from:)` throws.
        public func readIfPresent<Value: Decodable>(_ key: StaticString) throws -> Value? {
            guard let found = value(key), try !core.isNull(found) else { return nil }
            return try core.decode(Value.self, at: found)
        }

        /// A reader of the value, which may have any form.
        ///
        /// - Throws: `WireError` if there is no entry for the key.
        public func reader(_ key: StaticString) throws -> WireReader { WireReader(core: core, item: try find(key)) }

        /// Reads a map with text keys.
        ///
        /// - Throws: `WireError` if there is no entry for the key, or its value is of another kind.
        public func map(_ key: StaticString) throws -> Map { try reader(key).map() }

        @inline(__always)
        private func value(_ key: StaticString) -> CBORIndex.Item? {
            guard core.isOpen else { return nil }
            return unsafe WireReader.withText(key) { unsafe core.find($0, in: item) }
        }

        @inline(__always)
        private func find(_ key: StaticString) throws -> CBORIndex.Item {
            if let found = value(key) { return found }
            throw missing(key)
        }

        @inline(never)
        private func missing(_ key: StaticString) -> WireError {
            .keyMissing(path: CBORPath.text(core.codingPath(of: item)), key: "\(key)")
        }
    }
}
