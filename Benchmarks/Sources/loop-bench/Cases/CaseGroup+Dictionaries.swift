extension CaseGroup {
    /// A tracked dictionary of a million entries with text keys beside the standard library's; what an event costs that
    /// changes one of a million requests beside one of a thousand; and changes after a copy.
    static let dictionaries: [CaseGroup] =
        DictionaryWork.allCases.map { work in
            CaseGroup(
                unit: "times/CPU s",
                reference: Variant(name: "Dictionary") { try await rate("plain", work.rawValue, 1_000_000, $0) },
                ours: [
                    Variant(name: "tracked-\(work.rawValue)-1M") {
                        try await rate("tracked", work.rawValue, 1_000_000, $0)
                    }
                ])
        } + [
            CaseGroup(
                unit: "events/CPU s",
                reference: Variant(name: "1,000 entries") { try await rate("query", "event", 1000, $0) },
                ours: [Variant(name: "tracked-query-1M") { try await rate("query", "event", 1_000_000, $0) }]),
            CaseGroup(
                unit: "times/CPU s", reference: nil,
                ours: [
                    Variant(name: "tracked-change-after-copy-1M") { try await rate("copied", "change", 1_000_000, $0) }
                ]),
        ]

    private static func rate(_ kind: String, _ work: String, _ count: Int, _ effort: Effort) async throws -> Double {
        try await withRoles { roles in
            let role = try roles.start(
                "dictionary", ["kind": kind, "work": work, "count": "\(max(1000, Int(Double(count) * effort.scale)))"])
            return try await role.number("rate")
        }
    }
}
