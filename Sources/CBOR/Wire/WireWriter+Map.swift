extension WireWriter {
    /// Writes the entries of a map. Of several values for one key the last is valid.
    public struct Map: ~Copyable {
        let core: EncodingCore
        let node: Int

        @inline(__always)
        private func put(_ key: StaticString, _ write: (EncodingCore, ValuePosition) throws -> Void) rethrows {
            let start = core.log.count
            let prefix = core.key(key)
            let length = core.log.count - start
            try write(core, .entry(keyStart: start, keyLength: length, of: node))
            core.addEntry(node, start: start, keyLength: length, prefix: prefix)
        }

        @inline(__always)
        private func put(_ key: StaticString, scalar: some CBORScalar) {
            put(key) { core, _ in scalar.write(to: &core.log) }
        }

        /// Writes null.
        public mutating func writeNull(_ key: StaticString) { put(key) { core, _ in core.log.byte(0xF6) } }

        /// Writes a boolean.
        public mutating func write(_ key: StaticString, _ value: Bool) { put(key, scalar: value) }

        /// Writes an integer.
        public mutating func write(_ key: StaticString, _ value: Int) { put(key, scalar: value) }

        /// Writes an integer.
        public mutating func write(_ key: StaticString, _ value: UInt64) { put(key, scalar: value) }

        /// Writes a number in the shortest form that keeps it.
        public mutating func write(_ key: StaticString, _ value: Double) { put(key, scalar: value) }

        /// Writes text.
        public mutating func write(_ key: StaticString, _ value: String) { put(key, scalar: value) }

        /// Writes a byte string.
        public mutating func write(_ key: StaticString, _ value: [UInt8]) {
            put(key) { core, _ in core.log.byteString(value) }
        }

        /// Writes a value that writes itself.
        ///
        /// - Throws: what the value's `encode(to:)` throws. Then the encoding as a whole has failed.
        public mutating func write(_ key: StaticString, _ value: some WireCodable) throws {
            try put(key) { try $0.encodeWire(value, at: $1) }
        }

        /// Writes any other value.
        ///
        /// - Throws: what the value's `encode(to:)` throws. Then the encoding as a whole has failed.
        public mutating func write(_ key: StaticString, _ value: some Encodable) throws {
            try put(key) { try $0.encode(value, at: $1) }
        }

        /// Writes a value, or no entry for nil, as derived code does.
        ///
        /// - Throws: what the value's `encode(to:)` throws. Then the encoding as a whole has failed.
        public mutating func writeIfPresent(_ key: StaticString, _ value: (some Encodable)?) throws {
            if let value { try write(key, value) }
        }

        /// Writes a map with text keys.
        ///
        /// - Throws: what `fill` throws. Then the encoding as a whole has failed.
        public mutating func map(_ key: StaticString, _ fill: (inout Map) throws -> Void) rethrows {
            try put(key) { try $0.wireMap(at: $1, fill) }
        }

        /// Writes an array. Its elements are what `fill` writes.
        ///
        /// - Throws: what `fill` throws. Then the encoding as a whole has failed.
        public mutating func array(_ key: StaticString, _ fill: (inout WireWriter) throws -> Void) rethrows {
            try put(key) { try $0.wireArray(at: $1, fill) }
        }
    }
}
