// Unsafe: the result is freed once, in `deinit`. The memory of a value is lent only until the call returns.

internal import CPQ

/// The rows that a statement returned, in PostgreSQL's binary form. Rows and columns count from 0.
///
/// The bytes come from the server. A value whose size does not fit its type is read as absent.
@safe package struct QueryResult: ~Copyable {
    private let raw: OpaquePointer

    init(_ raw: OpaquePointer) { unsafe self.raw = raw }

    deinit { unsafe PQclear(raw) }

    /// The number of rows.
    package var count: Int { unsafe Int(PQntuples(raw)) }

    /// The number of rows that the statement has inserted, changed, deleted or returned.
    package var affectedCount: Int {
        guard let text = unsafe PQcmdTuples(raw) else { return 0 }
        return unsafe Int(String(cString: text)) ?? 0
    }

    /// The command's name and numbers as the server gives them, such as `COMMIT`.
    package var commandTag: String {
        guard let text = unsafe PQcmdStatus(raw) else { return "" }
        return unsafe String(cString: text)
    }

    /// A value of type `bigint`, `integer` or `boolean` (0 and 1), or nil if it is NULL or does not exist.
    package func integer(_ row: Int, _ column: Int) -> Int64? {
        withBytes(row, column) { bytes in
            switch bytes.count {
            case 1, 4, 8:
                var value: UInt64 = 0
                for index in bytes.indices { value = value << 8 | UInt64(bytes[index]) }
                return bytes.count == 4 ? Int64(Int32(truncatingIfNeeded: value)) : Int64(bitPattern: value)
            default: return nil
            }
        } ?? nil
    }

    /// A value of type `text`, or nil if it is NULL or does not exist. Bytes that are not UTF-8 are replaced.
    package func text(_ row: Int, _ column: Int) -> String? {
        withBytes(row, column) { bytes in
            var copy: [UInt8] = []
            copy.reserveCapacity(bytes.count)
            for index in bytes.indices { copy.append(bytes[index]) }
            return String(decoding: copy, as: UTF8.self)
        }
    }

    /// Calls `body` with the bytes of a value, which are lent until it returns.
    /// - Returns: what `body` returns, or nil if the value is NULL or does not exist.
    package func withBytes<Result, Failure: Error>(
        _ row: Int, _ column: Int, _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        let columnsCount = unsafe Int(PQnfields(raw))
        guard row >= 0, row < count, column >= 0, column < columnsCount,
            unsafe PQgetisnull(raw, Int32(row), Int32(column)) == 0,
            let start = unsafe PQgetvalue(raw, Int32(row), Int32(column))
        else { return nil }
        let length = unsafe Int(PQgetlength(raw, Int32(row), Int32(column)))
        let buffer = unsafe UnsafeRawBufferPointer(start: start, count: length).bindMemory(to: UInt8.self)
        return try unsafe body(buffer.span)
    }
}
