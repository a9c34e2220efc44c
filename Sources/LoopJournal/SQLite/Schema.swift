/// The tables that a database must have, and nothing else.
///
/// A file that has more, such as a trigger, a view, an index on an expression or another table, was not written by this program.
/// The schema is compared as text, in which runs of white space count as one space.
package struct Schema: Sendable {
    /// The statements that create the tables, in the order of the tables' names.
    package let statements: [String]
    private let tables: [String: String]

    /// Creates a schema.
    /// - Parameter tables: the statement that creates each table, by its name. It is as SQLite keeps it, without quotes and
    ///   comments.
    package init(_ tables: [String: String]) {
        statements = tables.sorted { $0.key < $1.key }.map(\.value)
        self.tables = tables.mapValues(Self.spaced)
    }

    /// The first object that a database has but should not have, or lacks, or nil if it has exactly these tables.
    /// - Parameter database: the database; it is only read.
    /// - Throws: ``SQLiteError`` if the schema cannot be read.
    package func difference(in database: borrowing Database) throws(SQLiteError) -> String? {
        var rows = try Statement(
            "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name LIMIT \(tables.count + 1)", in: database)
        var missing = Set(tables.keys)
        while try rows.step() {
            let (type, name) = (rows.text(0) ?? "", rows.text(1) ?? "")
            guard type == "table", rows.text(2) == name, let table = tables[name] else {
                return "there is a \(Self.short(type)) \(Self.short(name))"
            }
            guard Self.spaced(rows.text(3) ?? "") == table, missing.remove(name) != nil else {
                return "the table \(name) is another one"
            }
        }
        return missing.sorted().first.map { "there is no table \($0)" }
    }

    private static func spaced(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Shortens a text, because a text from the file may be long.
    private static func short(_ text: String) -> String { text.count <= 40 ? text : "\(text.prefix(40))…" }
}
