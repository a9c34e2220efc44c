extension CaseGroup {
    /// Runs all rounds.
    func run(rounds: Int, effort: Effort, progress: (String) -> Void) async throws -> [CaseResult] {
        let variants = ours + references
        var figures = [[Double]](repeating: [], count: variants.count)
        for round in 0..<rounds {
            for step in variants.indices {
                let number = (round + step) % variants.count
                figures[number].append(try await variants[number].measure(effort))
            }
            let line = zip(variants, figures).map { "\($0.name) \(Table.number($1[round]))" }.joined(separator: ", ")
            progress("round \(round + 1) of \(rounds): \(line) \(unit)")
        }
        return ours.indices.flatMap { results($0, figures) }
    }

    /// A line for each reference, or one where there is none.
    private func results(_ number: Int, _ figures: [[Double]]) -> [CaseResult] {
        let own = figures[number]
        if references.isEmpty {
            return [
                CaseResult(
                    name: ours[number].name, unit: unit, ours: own.median, reference: nil, referenceName: nil,
                    ratio: nil, range: [own.min() ?? 0, own.max() ?? 0])
            ]
        }
        return references.indices.map { index in
            let others = figures[ours.count + index]
            let ratios = zip(own, others).map { $0 / $1 }
            return CaseResult(
                name: ours[number].name, unit: unit, ours: own.median, reference: others.median,
                referenceName: references[index].name, ratio: ratios.median,
                range: [ratios.min() ?? 0, ratios.max() ?? 0])
        }
    }
}
