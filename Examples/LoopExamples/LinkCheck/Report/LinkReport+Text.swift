extension LinkReport {
    /// The report for people: broken targets with every page that links to them, a line for each redirect, and totals.
    var text: String {
        var text = ""
        for entry in broken {
            text += "broken  \(entry.url)"
            if let status = entry.status { text += "  \(status)" }
            if let error = entry.error { text += (entry.status == nil ? "  " : " ") + error }
            text += "\n"
            for page in entry.referrers { text += "        on \(page)\n" }
        }
        if !broken.isEmpty, !redirects.isEmpty { text += "\n" }
        for redirect in redirects {
            text += "redirect  \(redirect.url)  \(redirect.status) to \(redirect.target)"
            let pages = redirect.referrers.count
            text += pages == 0 ? "\n" : ", linked from \(Self.count(pages, "page"))\n"
        }
        if !text.isEmpty { text += "\n" }
        return text + totals + "\n"
    }

    private var totals: String {
        let found = broken.isEmpty ? "nothing broken" : "\(broken.count) broken"
        let parts = [
            Self.count(pages, "page"), Self.count(links, "link"), found, Self.count(redirects.count, "redirect"),
            "\(Self.number(seconds)) s",
        ]
        return parts.joined(separator: ", ")
    }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
