extension CaseGroup {
    /// A tracked dictionary of a million entries with text keys beside the standard library's; what an event costs that
    /// changes one of a million requests beside one of a thousand; and changes after a copy.
    static let dictionaries: [CaseGroup] =
        works + [
            CaseGroup(
                unit: "events/CPU s",
                reference: Variant(name: "1,000 entries") { try await rate("query", 1000, $0) },
                ours: [Variant(name: "tracked-query-1M") { try await rate("query", 1_000_000, $0) }],
                rounds: 3),
            CaseGroup(
                unit: "times/CPU s", reference: nil,
                ours: [
                    Variant(name: "tracked-change-after-copy-1M") { try await rate("copied", 1_000_000, $0) }
                ], rounds: 3),
        ]

    private static let works: [CaseGroup] = {
        let (plain, tracked) = (DictionaryRun(kind: "plain"), DictionaryRun(kind: "tracked"))
        return DictionaryWork.allCases.map { work in
            CaseGroup(
                unit: "times/CPU s",
                reference: Variant(name: "Dictionary") { try await plain.rate(of: work, $0) },
                ours: [Variant(name: "tracked-\(work.rawValue)-1M") { try await tracked.rate(of: work, $0) }],
                rounds: 3)
        }
    }()

    private static func rate(_ kind: String, _ count: Int, _ effort: Effort) async throws -> Double {
        try await withRoles { roles in
            let role = try roles.start(
                "dictionary", ["kind": kind, "count": "\(max(1000, Int(Double(count) * effort.scale)))"])
            return try await role.number("rate")
        }
    }
}

/// One run does all kinds of work on a dictionary, one after the other. The first caller that needs a figure starts it.
private actor DictionaryRun {
    private let kind: String
    /// The rates of each kind of work that were not asked for yet.
    private var left: [DictionaryWork: [Double]] = [:]

    init(kind: String) { self.kind = kind }

    func rate(of work: DictionaryWork, _ effort: Effort) async throws -> Double {
        if left[work, default: []].isEmpty {
            for (work, rate) in try await Self.run(kind, effort) { left[work, default: []].append(rate) }
        }
        return left[work, default: []].removeFirst()
    }

    private nonisolated static func run(_ kind: String, _ effort: Effort) async throws -> [DictionaryWork: Double] {
        try await withRoles { roles in
            let count = max(1000, Int(1_000_000 * effort.scale))
            let role = try roles.start("dictionary", ["kind": kind, "count": "\(count)"])
            var rates: [DictionaryWork: Double] = [:]
            for work in DictionaryWork.allCases { rates[work] = try await role.number(work.rawValue) }
            return rates
        }
    }
}
