import CReference
import LoopCluster
import TestDatabase

/// Appends batches of events to a new journal in a database and, in turn, inserts the same bytes by libpq alone.
enum DatabaseJournalRole {
    /// What makes a record about 100 bytes long: its numbers are as long as they need to be.
    private static let eventBytes = 81
    /// How many inserts are on their way at once.
    private static let depth: UInt64 = 4

    static func run(_ role: Role) throws {
        let (url, batch) = (try role.text("url"), try role.number("batch"))
        let slices = max(1, try role.number("count") / JournalRole.slice)
        var journal = try MeasuredJournal.open(url, loop: "bench")
        var table = reference_table()
        try check(reference_table_open(&table, url), table)
        var ours = 0.0
        var plain = 0.0
        for number in 0..<slices {
            let batches = JournalRole.batches(number, batch: batch, bytes: eventBytes)
            let bytes = batches[0].bytes
            guard (95...105).contains(bytes.count / batch) else {
                throw BenchmarkError.role("a record has \(bytes.count / batch) bytes in place of 100")
            }
            ours += try JournalRole.seconds {
                for records in batches {
                    _ = try journal.append(records, through: journal.position + UInt64(records.count))
                }
            }
            plain += try JournalRole.seconds {
                try check(
                    reference_table_insert(&table, bytes, UInt64(bytes.count), UInt64(JournalRole.slice), depth),
                    table)
            }
        }
        reference_table_close(&table)
        journal.close()
        let count = Double(slices * JournalRole.slice * batch)
        Role.say("journal", count / ours)
        Role.say("plain", count / plain)
    }

    private static func check(_ result: Int32, _ table: reference_table) throws {
        guard result != 0 else { return }
        let reason = withUnsafeBytes(of: table.error) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        throw BenchmarkError.role("libpq in C: \(reason)")
    }
}
