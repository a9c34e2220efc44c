extension CaseGroup {
    /// Everything that needs a database, in `make bench`.
    static let database = databaseRates + databaseAppends

    /// Durable effects a second whose journal is in PostgreSQL, beside the same with a file.
    private static let databaseRates = [(Databases.Kind.one, "postgres"), (.quorum, "quorum")].map { kind, name in
        CaseGroup(
            unit: "effects/s",
            reference: Variant(name: "a file") { effort in
                try await effort.inFolder { folder in
                    try await fan(
                        PackedFan.self, window: 4096, count: effort.count(1_000_000),
                        journal: "\(folder)/bench.journal")
                }
            }, ours: [databaseEffects(kind, name, count: 1_000_000)], rounds: 5)
    }

    /// 4096 effects at once on two workers.
    static func databaseEffects(_ kind: Databases.Kind, _ name: String, count: Int) -> Variant {
        Variant(name: "effects-2-workers-4096-\(name)") { effort in
            try await fan(
                PackedFan.self, window: 4096, count: effort.count(count),
                journal: try await Databases.shared.make(kind))
        }
    }

    /// Records of 100 bytes that are made durable a second, a batch at a time, next to a program in C that inserts the same
    /// bytes by libpq alone.
    private static let databaseAppends = [(64, 3000), (512, 1500)].map { (batch: Int, count: Int) in
        let run = AppendRun { effort in
            [
                "role": "database-journal", "url": try await Databases.shared.make(.one), "batch": "\(batch)",
                "count": "\(effort.count(count))",
            ]
        }
        return CaseGroup(
            unit: "records/s",
            reference: Variant(name: "libpq in C") { try await run.figure(\.plain, $0) },
            ours: [Variant(name: "postgres-append-\(batch)") { try await run.figure(\.journal, $0) }])
    }
}
