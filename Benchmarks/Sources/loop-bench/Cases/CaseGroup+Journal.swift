extension CaseGroup {
    /// Events of 256 bytes that are made durable a second, a batch at a time, next to a loop that appends the same bytes to
    /// a file and calls fdatasync. Enough appends that most are not the first to use their part of the log.
    static let journalAppends = [(1, 3000), (8, 3000), (64, 2000), (128, 1200), (512, 500), (1024, 400)].map {
        (batch: Int, count: Int) in
        let run = AppendRun {
            ["role": "journal", "work": "append", "batch": "\(batch)", "count": "\($0.count(count))"]
        }
        return CaseGroup(
            unit: "events/s",
            reference: Variant(name: "append and fdatasync in C") { try await run.figure(\.plain, $0) },
            ours: [Variant(name: "journal-append-\(batch)") { try await run.figure(\.journal, $0) }])
    }

    /// Events of 16 bytes read back a second, from batches of one and of many.
    static let journalReads = CaseGroup(
        unit: "events/s", reference: nil,
        ours: [(1, 5000), (64, 5000)].map { (batch: Int, count: Int) in
            Variant(name: "journal-read-\(batch)") { effort in
                try await withRoles { roles in
                    let words = ["work": "read", "batch": "\(batch)", "count": "\(effort.count(count))"]
                    return try await roles.start("journal", words).number("rate")
                }
            }
        })
}

/// One round's appends, to the journal and to the plain reference in turn. One process does both, since the pace of a disk
/// changes faster than processes could take turns. The side that asks first in a round starts the run.
actor AppendRun {
    struct Figures {
        var journal: Double?
        var plain: Double?
    }

    private let arguments: @Sendable (Effort) async throws -> [String: String]
    private var left = Figures()

    /// - Parameter arguments: of the process that appends, with its name under `role`.
    init(_ arguments: @escaping @Sendable (Effort) async throws -> [String: String]) { self.arguments = arguments }

    func figure(_ side: sending WritableKeyPath<Figures, Double?>, _ effort: Effort) async throws -> Double {
        if left[keyPath: side] == nil { left = try await Self.run(arguments(effort)) }
        defer { left[keyPath: side] = nil }
        return left[keyPath: side] ?? 0
    }

    private nonisolated static func run(_ arguments: [String: String]) async throws -> Figures {
        try await withRoles { roles in
            let role = try roles.start(arguments["role"] ?? "", arguments.filter { $0.key != "role" })
            return Figures(journal: try await role.number("journal"), plain: try await role.number("plain"))
        }
    }
}
