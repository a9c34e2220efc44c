extension LinkReport {
    /// For programs: one JSON document, an entry a line. Absent values are null. The schema is in docs/linkcheck.md.
    var json: String {
        var json = "{\"pages\":\(pages),\"links\":\(links),\n\"broken\":["
        json += broken.map { entry in
            "\n{\"url\":\(JSONText.string(entry.url)),\"status\":\(entry.status.map(String.init) ?? "null"),"
                + "\"error\":\(entry.error.map(JSONText.string) ?? "null"),"
                + "\"referrers\":\(JSONText.strings(entry.referrers))}"
        }.joined(separator: ",")
        json += "],\n\"redirects\":["
        json += redirects.map { redirect in
            "\n{\"url\":\(JSONText.string(redirect.url)),\"status\":\(redirect.status),"
                + "\"target\":\(JSONText.string(redirect.target)),"
                + "\"referrers\":\(JSONText.strings(redirect.referrers))}"
        }.joined(separator: ",")
        return json + "],\n\"seconds\":\(JSONText.number(seconds))}\n"
    }
}

/// Writes JSON values (RFC 8259).
enum JSONText {
    static func string(_ text: String) -> String {
        var json = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": json += "\\\""
            case "\\": json += "\\\\"
            case "\n": json += "\\n"
            case "\r": json += "\\r"
            case "\t": json += "\\t"
            case "\0"..<" ":
                let digits = String(scalar.value, radix: 16)
                json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: json.unicodeScalars.append(scalar)
            }
        }
        return json + "\""
    }

    static func strings(_ texts: [String]) -> String { "[" + texts.map(string).joined(separator: ",") + "]" }

    /// With three decimals at most.
    static func number(_ number: Double) -> String {
        let thousandths = Int64((number * 1000).rounded())
        let fraction = String(thousandths.magnitude % 1000 + 1000).dropFirst()
        return "\(thousandths < 0 ? "-" : "")\(thousandths.magnitude / 1000).\(fraction)"
    }
}
