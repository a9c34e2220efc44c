extension CaseGroup {
    /// Events of 256 bytes that are made durable a second, so many at a time, beside a loop that appends the same bytes to
    /// a file and calls fdatasync.
    static let journalAppends = [(1, 6000), (8, 6000), (64, 4000), (128, 2000), (512, 700), (1024, 700)].map {
        (batch: Int, count: Int) in
        CaseGroup(
            unit: "events/s",
            reference: Variant(name: "append and fdatasync in C") { try await rate("c-append", batch, count, $0) },
            ours: [Variant(name: "journal-append-\(batch)") { try await rate("append", batch, count, $0) }])
    }

    /// Events of 16 bytes read back a second, from batches of one and of many.
    static let journalReads = CaseGroup(
        unit: "events/s", reference: nil,
        ours: [(1, 10_000), (64, 10_000)].map { (batch: Int, count: Int) in
            Variant(name: "journal-read-\(batch)") { try await rate("read", batch, count, $0) }
        })

    private static func rate(_ work: String, _ batch: Int, _ count: Int, _ effort: Effort) async throws -> Double {
        let count = effort.count(count)
        return try await withRoles { roles in
            let role = try roles.start("journal", ["work": work, "batch": "\(batch)", "count": "\(count)"])
            return Double(batch * count) / (try await role.number("seconds"))
        }
    }
}
