extension CaseGroup {
    /// Runs all rounds.
    func run(rounds: Int, effort: Effort, progress: (String) -> Void) async throws -> [CaseResult] {
        let variants = ours + (reference.map { [$0] } ?? [])
        var figures = [[Double]](repeating: [], count: variants.count)
        for round in 0..<rounds {
            for step in variants.indices {
                let number = (round + step) % variants.count
                figures[number].append(try await variants[number].measure(effort))
            }
            let line = zip(variants, figures).map { "\($0.name) \(Table.number($1[round]))" }.joined(separator: ", ")
            progress("round \(round + 1) of \(rounds): \(line) \(unit)")
        }
        return ours.indices.map { result($0, figures) }
    }

    private func result(_ number: Int, _ figures: [[Double]]) -> CaseResult {
        let own = figures[number]
        guard let reference else {
            return CaseResult(
                name: ours[number].name, unit: unit, ours: own.median, reference: nil, referenceName: nil, ratio: nil,
                range: [own.min() ?? 0, own.max() ?? 0])
        }
        let others = figures[ours.count]
        let ratios = zip(own, others).map { $0 / $1 }
        return CaseResult(
            name: ours[number].name, unit: unit, ours: own.median, reference: others.median,
            referenceName: reference.name, ratio: ratios.median, range: [ratios.min() ?? 0, ratios.max() ?? 0])
    }
}
