// Unsafe: an array lends its bytes for one call.

extension WireWriter {
    /// Writes the entries of a map. Of several values for one key the last counts.
    public struct Map: ~Copyable {
        let core: EncodingCore
        let node: Int

        @inline(__always)
        private func put(_ key: StaticString, _ write: (EncodingCore, Int, Int) throws -> Void) rethrows {
            let start = core.log.count
            let prefix = core.key(key)
            let length = core.log.count - start
            try write(core, start, length)
            core.addEntry(node, start: start, keyLength: length, prefix: prefix)
        }

        /// Writes null.
        public mutating func writeNull(_ key: StaticString) { put(key) { core, _, _ in core.log.byte(0xF6) } }

        /// Writes a boolean.
        public mutating func write(_ key: StaticString, _ value: Bool) {
            put(key) { core, _, _ in core.log.byte(value ? 0xF5 : 0xF4) }
        }

        /// Writes an integer.
        public mutating func write(_ key: StaticString, _ value: Int) {
            put(key) { core, _, _ in core.log.signed(Int64(value)) }
        }

        /// Writes an integer.
        public mutating func write(_ key: StaticString, _ value: UInt64) {
            put(key) { core, _, _ in core.log.head(0, value) }
        }

        /// Writes a number in the shortest form that keeps it.
        public mutating func write(_ key: StaticString, _ value: Double) {
            put(key) { core, _, _ in core.log.float(value) }
        }

        /// Writes text.
        public mutating func write(_ key: StaticString, _ value: String) {
            put(key) { core, _, _ in core.log.text(value) }
        }

        /// Writes a byte string.
        public mutating func write(_ key: StaticString, _ value: [UInt8]) {
            put(key) { core, _, _ in unsafe value.withUnsafeBufferPointer { unsafe core.log.byteString($0) } }
        }

        /// Writes a value that writes itself.
        public mutating func write(_ key: StaticString, _ value: some WireCodable) throws {
            let node = node
            try put(key) { try $0.encodeWire(value, in: node, keyStartOrIndex: $1, keyLength: $2) }
        }

        /// Writes any other value.
        public mutating func write(_ key: StaticString, _ value: some Encodable) throws {
            let node = node
            try put(key) { try $0.encode(value, in: node, keyStartOrIndex: $1, keyLength: $2) }
        }

        /// Writes a value, or no entry for nil, as derived code does.
        public mutating func writeIfPresent(_ key: StaticString, _ value: (some Encodable)?) throws {
            if let value { try write(key, value) }
        }

        /// Writes a map with text keys.
        public mutating func map(_ key: StaticString, _ fill: (inout Map) throws -> Void) rethrows {
            let node = node
            try put(key) { core, start, length in
                try core.wireContainer(.map, in: node, keyStartOrIndex: start, keyLength: length) { core, node in
                    var map = Map(core: core, node: node)
                    try fill(&map)
                }
            }
        }

        /// Writes an array, whose elements are what is written in `fill`.
        public mutating func array(_ key: StaticString, _ fill: (inout WireWriter) throws -> Void) rethrows {
            let node = node
            try put(key) { core, start, length in
                try core.wireContainer(.array, in: node, keyStartOrIndex: start, keyLength: length) { core, node in
                    var elements = WireWriter(core, in: node, keyStartOrIndex: 0, keyLength: 0, isArray: true)
                    try fill(&elements)
                }
            }
        }
    }
}
