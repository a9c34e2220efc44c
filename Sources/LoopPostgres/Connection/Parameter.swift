// Unsafe: the bytes of all parameters are in one array, which libpq uses only until the call returns.

internal import CPQ

/// A value for a statement's parameter, sent in PostgreSQL's binary form.
package enum Parameter: Sendable {
    /// A `bigint`.
    case integer(Int64)
    /// A `text`. The server refuses a zero byte in it.
    case text(String)
    /// A `bytea`.
    case bytes([UInt8])

    /// A `bigint` of a number that is not negative. No journal has one that is too large.
    static func number(_ value: some BinaryInteger) -> Parameter { .integer(Int64(clamping: value)) }

    var type: Oid {
        switch self {
        case .integer: Oid(LOOP_PG_INT8)
        case .text: Oid(LOOP_PG_TEXT)
        case .bytes: Oid(LOOP_PG_BYTEA)
        }
    }

    private var byteCount: Int {
        switch self {
        case .integer: 8
        case .text(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        }
    }

    private func write(to buffer: inout [UInt8]) {
        switch self {
        case .integer(let number):
            for shift in stride(from: 56, through: 0, by: -8) {
                buffer.append(UInt8(truncatingIfNeeded: number >> Int64(shift)))
            }
        case .text(let text): buffer += text.utf8
        case .bytes(let bytes): buffer += bytes
        }
    }

    /// Calls `body` with addresses, lengths and forms, as libpq takes them.
    static func lend<Result>(
        _ parameters: [Parameter],
        _ body: (
            UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
        ) -> Result
    ) -> Result {
        var buffer: [UInt8] = []
        // One more byte gives an address to an empty parameter at the end. Without one it would be NULL.
        buffer.reserveCapacity(parameters.reduce(1) { $0 + $1.byteCount })
        var starts: [Int] = []
        for parameter in parameters {
            starts.append(buffer.count)
            parameter.write(to: &buffer)
        }
        buffer.append(0)
        let lengths = parameters.map { Int32($0.byteCount) }
        let forms = [Int32](repeating: 1, count: parameters.count)
        return unsafe buffer.withUnsafeBytes { bytes in
            let memory = unsafe bytes.bindMemory(to: CChar.self)
            let addresses = unsafe starts.map { start in unsafe memory.baseAddress.map { unsafe $0 + start } }
            return unsafe addresses.withUnsafeBufferPointer { addresses in
                unsafe lengths.withUnsafeBufferPointer { lengths in
                    unsafe forms.withUnsafeBufferPointer { forms in
                        unsafe body(addresses.baseAddress, lengths.baseAddress, forms.baseAddress)
                    }
                }
            }
        }
    }

    /// The largest value that the protocol carries, without the other parts of a statement.
    static let bytesMax = 1 << 30

    /// Whether the parameters fit into one message.
    static func fit(_ parameters: [Parameter]) -> Bool {
        parameters.reduce(0) { $0 + $1.byteCount } < bytesMax - (1 << 20)
    }
}

/// A statement that a connection prepares when it first runs it.
package struct PreparedStatement: Sendable {
    let name: String
    let sql: String

    /// - Parameters:
    ///   - name: its name in the session; each text needs its own.
    ///   - sql: one statement, with parameters `$1`, `$2`, …. The statement gives their types, or the server infers them.
    package init(_ name: String, _ sql: String) {
        self.name = name
        self.sql = sql
    }
}
