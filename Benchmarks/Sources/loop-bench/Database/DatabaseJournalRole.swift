import CReference
import LoopCluster
import TestDatabase

/// Appends batches of events to a new journal in a database, as a reducer does whose turns overlap, and, in turn, inserts the same
/// bytes by libpq alone.
enum DatabaseJournalRole {
    /// What makes a record about 100 bytes long: its numbers are as long as they need to be.
    private static let eventBytes = 81
    /// How many appends, and how many inserts, are on their way at once.
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
            ours += try JournalRole.seconds { try append(batches, to: &journal) }
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

    private static func append(_ batches: [RecordLog], to journal: inout any Journal) throws {
        var position = journal.position
        var begun: [UInt64] = []
        for records in batches {
            while begun.count >= depth { try takeReceipt(of: &begun, from: &journal) }
            position += UInt64(records.count)
            guard try journal.beginAppend(records, through: position) == nil else { continue }
            begun.append(position)
        }
        while !begun.isEmpty { try takeReceipt(of: &begun, from: &journal) }
    }

    /// Waits for the next receipt, which may prove several appends.
    private static func takeReceipt(of begun: inout [UInt64], from journal: inout any Journal) throws {
        guard let receipt = try journal.takeReceipt(waits: true) else {
            throw BenchmarkError.promise("the journal has no receipt through \(begun.last ?? 0)")
        }
        begun.removeAll { $0 <= receipt.position }
    }

    private static func check(_ result: Int32, _ table: reference_table) throws {
        guard result != 0 else { return }
        let reason = withUnsafeBytes(of: table.error) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        throw BenchmarkError.role("libpq in C: \(reason)")
    }
}
