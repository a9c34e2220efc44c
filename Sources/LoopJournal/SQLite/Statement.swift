// Unsafe: the statement is freed once, in `deinit`, and keeps its connection. The memory of a column is lent only until the call
// returns.

internal import CSQLite

/// A prepared statement of one connection and one thread. Parameters count from 1, columns from 0, as in SQLite.
///
/// It may outlive its ``Database``. Then the connection ends with the last of its statements.
@safe package struct Statement: ~Copyable {
    private let raw: OpaquePointer
    private let connection: OpaquePointer

    /// Prepares one statement. Text after it is ignored.
    /// - Throws: ``SQLiteError`` if the text is not SQL, has no statement, or names a table or column that does not exist.
    package init(_ sql: String, in database: borrowing Database) throws(SQLiteError) {
        var prepared: OpaquePointer?
        let result = unsafe sqlite3_prepare_v3(
            database.raw, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard result == SQLITE_OK else { throw database.failure(result, "prepare \(sql)") }
        guard let prepared = unsafe prepared else {
            throw SQLiteError("prepare \(sql)", code: SQLITE_MISUSE, text: "no statement")
        }
        unsafe raw = prepared
        unsafe connection = database.raw
    }

    deinit { unsafe sqlite3_finalize(raw) }

    /// Binds a number to a parameter, counted from 1, until it is bound again. ``reset()`` keeps it.
    /// - Throws: ``SQLiteError`` if there is no such parameter, or if the statement has begun and was not reset.
    package mutating func bind(_ index: Int32, _ value: Int64) throws(SQLiteError) {
        try check(unsafe sqlite3_bind_int64(raw, index, value))
    }

    /// Binds a copy of a text to a parameter, counted from 1, until it is bound again. ``reset()`` keeps it.
    /// - Throws: ``SQLiteError`` if there is no such parameter, or if the statement has begun and was not reset.
    package mutating func bind(_ index: Int32, _ value: String) throws(SQLiteError) {
        var value = value
        let result = value.withUTF8 { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) {
                unsafe sqlite3_bind_text64(
                    raw, index, $0.baseAddress, UInt64($0.count), Self.transient, UInt8(SQLITE_UTF8))
            }
        }
        try check(result)
    }

    /// Moves to the next row.
    /// - Returns: whether there is one. After the last row the next call starts the statement again.
    /// - Throws: ``SQLiteError`` if the statement fails, also because another connection is in the way. The statement is reset.
    package mutating func step() throws(SQLiteError) -> Bool {
        switch unsafe sqlite3_step(raw) {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            unsafe sqlite3_reset(raw)
            return false
        case let code:
            let error = failure(code)
            unsafe sqlite3_reset(raw)
            throw error
        }
    }

    /// Runs a statement, and drops its rows, if there are any.
    /// - Throws: ``SQLiteError`` if the statement fails.
    package mutating func run() throws(SQLiteError) {
        if try step() { reset() }
    }

    /// Runs a statement with one parameter that is lent for this run and not copied. Drops the statement's rows, if there are any.
    /// - Parameters:
    ///   - index: the parameter, counted from 1.
    ///   - bytes: its value, a blob, which may be empty. The parameter is NULL afterwards.
    /// - Throws: ``SQLiteError`` if there is no such parameter, or if the statement fails.
    package mutating func run(_ index: Int32, lending bytes: Span<UInt8>) throws(SQLiteError) {
        let outcome: SQLiteError? = unsafe bytes.withUnsafeBytes { buffer in
            // A blob without bytes is not NULL, so it needs an address, but any will do.
            let bound = unsafe withUnsafePointer(to: raw) { some in
                unsafe sqlite3_bind_blob64(
                    raw, index, buffer.baseAddress ?? UnsafeRawPointer(some), UInt64(buffer.count), nil)
            }
            guard bound == SQLITE_OK else { return failure(bound) }
            let result = unsafe sqlite3_step(raw)
            // This comes first, because the statement must not keep the address.
            let error = result == SQLITE_DONE || result == SQLITE_ROW ? nil : failure(result)
            unsafe sqlite3_reset(raw)
            unsafe sqlite3_bind_null(raw, index)
            return error
        }
        if let outcome { throw outcome }
    }

    /// Returns to the beginning, and frees the content of the current row.
    package mutating func reset() { unsafe sqlite3_reset(raw) }

    /// A column of the current row as a number, or 0 for NULL. Columns count from 0.
    package borrowing func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(raw, column) }

    /// A column of the current row as a number, or nil for NULL. Columns count from 0.
    package borrowing func optionalInteger(_ column: Int32) -> Int64? {
        unsafe sqlite3_column_type(raw, column) == SQLITE_NULL ? nil : sqlite3_column_int64(raw, column)
    }

    /// A column of the current row as text, or nil for NULL. Columns count from 0. Bytes that are not UTF-8 are replaced.
    package borrowing func text(_ column: Int32) -> String? {
        guard let bytes = unsafe sqlite3_column_text(raw, column) else { return nil }
        return unsafe String(cString: bytes)
    }

    /// Lends the bytes of a column of the current row, in SQLite's memory. Columns count from 0. The span is empty for NULL, and
    /// must not outlive the call.
    /// - Throws: what `body` throws.
    package borrowing func withBytes<Result, Failure: Error>(
        _ column: Int32, _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let start = unsafe sqlite3_column_blob(raw, column)
        let count = unsafe start == nil ? 0 : Int(sqlite3_column_bytes(raw, column))
        let bytes = unsafe UnsafeBufferPointer(start: start?.assumingMemoryBound(to: UInt8.self), count: count)
        return try unsafe body(bytes.span)
    }

    /// A copy of the bytes of a column of the current row, empty for NULL. Columns count from 0.
    package borrowing func bytes(_ column: Int32) -> [UInt8] {
        withBytes(column) { bytes in
            var copy: [UInt8] = []
            copy.append(copying: bytes)
            return copy
        }
    }

    private func check(_ result: Int32) throws(SQLiteError) {
        if result != SQLITE_OK { throw failure(result) }
    }

    private func failure(_ code: Int32) -> SQLiteError {
        let text = unsafe sqlite3_sql(raw).map { unsafe String(cString: $0) } ?? "a statement"
        return unsafe Database.failure(connection, code, "run \(text)")
    }

    /// SQLITE_TRANSIENT: SQLite makes its own copy before the call returns.
    private static var transient: sqlite3_destructor_type? {
        unsafe unsafeBitCast(-1, to: sqlite3_destructor_type?.self)
    }
}

extension [UInt8] {
    /// Appends a copy of bytes that are lent.
    package mutating func append(copying bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}
