import Foundation

/// The results as people read them.
enum Table {
    static func text(_ results: [CaseResult]) -> String {
        let heads = ["case", "unit", "ours", "reference", "ratio", "range", "reference is"]
        var rows = [heads]
        for result in results {
            let form: (Double) -> String = { result.ratio == nil ? number($0) : String(format: "%.2f", $0) }
            rows.append([
                result.name, result.unit, number(result.ours), result.reference.map(number) ?? "-",
                result.ratio.map { String(format: "%.2f", $0) } ?? "-",
                "\(form(result.range[0]))..\(form(result.range[1]))", result.referenceName ?? "-",
            ])
        }
        let widths = heads.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).enumerated().map { index, cell in
                let space = String(repeating: " ", count: cell.1 - cell.0.count)
                return (2...4).contains(index) ? space + cell.0 : cell.0 + space
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    static func number(_ value: Double) -> String {
        switch value {
        case 1e6...: String(format: "%.2f M", value / 1e6)
        case 1e4...: String(format: "%.1f k", value / 1e3)
        case 100...: String(format: "%.0f", value)
        default: String(format: "%.1f", value)
        }
    }
}
