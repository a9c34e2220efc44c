/// Variants of the same work, run side by side.
///
/// Each round runs every variant once, in rotating order; a ratio is taken between figures of the same round, so that a
/// machine that grows slower or faster meanwhile does not change it.
struct CaseGroup: Sendable {
    /// One way to do the work.
    struct Variant: Sendable {
        let name: String
        /// Does it once, checks what came out, and gives the figure in the group's unit.
        let measure: @Sendable (Effort) async throws -> Double
    }

    let unit: String
    /// What each of `ours` is compared with, a line for each; empty where nothing is worth it.
    let references: [Variant]
    /// The variants that are ours; each is a case of its own.
    let ours: [Variant]
    /// How many rounds there are at most: fewer where a round takes long.
    let rounds: Int

    init(unit: String, references: [Variant], ours: [Variant], rounds: Int = .max) {
        self.unit = unit
        self.references = references
        self.ours = ours
        self.rounds = rounds
    }

    init(unit: String, reference: Variant?, ours: [Variant], rounds: Int = .max) {
        self.init(unit: unit, references: reference.map { [$0] } ?? [], ours: ours, rounds: rounds)
    }
}

/// How much work a variant does: 1 for the figures that are quoted, less for a quick look.
struct Effort: Sendable {
    let scale: Double
    /// Where journals go, and whatever else a variant keeps on the disk.
    let folder: String

    func count(_ full: Int) -> Int { Swift.max(64, Int(Double(full) * scale)) }
}

/// A run that gives several figures, and is run once for all of them.
actor SingleRun<Figures: Sendable> {
    private let run: @Sendable (Effort) async throws -> Figures
    private var known: Figures?

    init(_ run: @escaping @Sendable (Effort) async throws -> Figures) { self.run = run }

    func figures(_ effort: Effort) async throws -> Figures {
        if let known { return known }
        let figures = try await run(effort)
        known = figures
        return figures
    }
}

/// One line of the table and of `bench-results.json`.
struct CaseResult: Encodable, Sendable {
    enum CodingKeys: String, CodingKey {
        case name = "case"
        case unit, ours, reference
        case referenceName = "reference_name"
        case ratio, range
    }

    let name: String
    let unit: String
    /// The median over all rounds.
    let ours: Double
    let reference: Double?
    let referenceName: String?
    /// The median over all rounds of ours divided by the reference's of the same round.
    let ratio: Double?
    /// The smallest and the largest of those ratios; without a reference, of the figures themselves.
    let range: [Double]

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(unit, forKey: .unit)
        try container.encode(ours, forKey: .ours)
        // Absent values are null, so that every line has the same fields.
        try container.encode(reference, forKey: .reference)
        try container.encode(referenceName, forKey: .referenceName)
        try container.encode(ratio, forKey: .ratio)
        try container.encode(range, forKey: .range)
    }
}
