extension LinkReport {
    /// For people: what is broken, with every page that links to it; redirects in one line each; totals.
    var text: String {
        var lines: [String] = []
        for entry in broken {
            let what = [entry.status.map(String.init), entry.error].compactMap { $0 }.joined(separator: " ")
            lines.append("broken  \(entry.url)  \(what)")
            lines += entry.referrers.map { "        on \($0)" }
        }
        if !broken.isEmpty, !redirects.isEmpty { lines.append("") }
        for redirect in redirects {
            let pages = Self.count(redirect.referrers.count, "page")
            lines.append("redirect  \(redirect.url)  \(redirect.status) to \(redirect.target), linked from \(pages)")
        }
        if !lines.isEmpty { lines.append("") }
        if cutPages > 0 { lines.append("\(Self.count(cutPages, "page")) longer than the body limit; see --body-limit") }
        lines.append(totals)
        return lines.joined(separator: "\n") + "\n"
    }

    private var totals: String {
        let found = broken.isEmpty ? "nothing broken" : "\(broken.count) broken"
        let parts = [
            Self.count(pages, "page"), Self.count(links, "link"), found, Self.count(redirects.count, "redirect"),
            "\(JSONText.number(seconds)) s",
        ]
        return parts.joined(separator: ", ")
    }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
