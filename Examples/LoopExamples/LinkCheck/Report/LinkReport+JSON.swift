internal import LoopNode

extension LinkReport {
    /// The report as one JSON document for programs, with an entry a line. Absent values are null. The schema is in
    /// docs/linkcheck.md.
    var json: String {
        let broken = broken.map { entry in
            JSONText.object([
                ("url", JSONText.quoted(entry.url)), ("status", entry.status.map { "\($0)" } ?? "null"),
                ("error", entry.error.map(JSONText.quoted) ?? "null"), ("referrers", Self.array(entry.referrers)),
            ])
        }
        let redirects = redirects.map { redirect in
            JSONText.object([
                ("url", JSONText.quoted(redirect.url)), ("status", "\(redirect.status)"),
                ("target", JSONText.quoted(redirect.target)), ("referrers", Self.array(redirect.referrers)),
            ])
        }
        return """
            {"pages":\(pages),"links":\(links),
            "broken":[\(Self.lines(broken))],
            "redirects":[\(Self.lines(redirects))],
            "seconds":\(Self.number(seconds))}

            """
    }

    private static func array(_ texts: [String]) -> String {
        "[\(texts.map(JSONText.quoted).joined(separator: ","))]"
    }

    /// Each object on a line of its own.
    private static func lines(_ objects: [String]) -> String { objects.map { "\n\($0)" }.joined(separator: ",") }

    /// A number with three decimals.
    static func number(_ number: Double) -> String {
        let thousandths = Int64((number * 1000).rounded())
        let fraction = String(thousandths.magnitude % 1000 + 1000).dropFirst()
        return "\(thousandths < 0 ? "-" : "")\(thousandths.magnitude / 1000).\(fraction)"
    }
}
