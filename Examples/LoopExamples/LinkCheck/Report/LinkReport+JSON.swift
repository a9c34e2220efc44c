extension LinkReport {
    /// The report as one JSON document for programs, with an entry a line. Absent values are null. The schema is in
    /// docs/linkcheck.md.
    var json: String {
        var json = "{\"pages\":\(pages),\"links\":\(links),\n\"broken\":["
        for (index, entry) in broken.enumerated() {
            json += index == 0 ? "\n{\"url\":" : ",\n{\"url\":"
            JSONText.append(entry.url, to: &json)
            json += ",\"status\":\(entry.status.map(String.init) ?? "null"),\"error\":"
            if let error = entry.error { JSONText.append(error, to: &json) } else { json += "null" }
            json += ",\"referrers\":"
            JSONText.append(entry.referrers, to: &json)
            json += "}"
        }
        json += "],\n\"redirects\":["
        for (index, redirect) in redirects.enumerated() {
            json += index == 0 ? "\n{\"url\":" : ",\n{\"url\":"
            JSONText.append(redirect.url, to: &json)
            json += ",\"status\":\(redirect.status),\"target\":"
            JSONText.append(redirect.target, to: &json)
            json += ",\"referrers\":"
            JSONText.append(redirect.referrers, to: &json)
            json += "}"
        }
        return json + "],\n\"seconds\":\(JSONText.number(seconds))}\n"
    }
}

/// Writes JSON values (RFC 8259).
enum JSONText {
    static func append(_ text: String, to json: inout String) {
        json += "\""
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
            json += text
        } else {
            for scalar in text.unicodeScalars { json += escaped(scalar) }
        }
        json += "\""
    }

    static func append(_ texts: [String], to json: inout String) {
        json += "["
        for (index, text) in texts.enumerated() {
            if index > 0 { json += "," }
            append(text, to: &json)
        }
        json += "]"
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\"": return "\\\""
        case "\\": return "\\\\"
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        case "\0"..<" ":
            let digits = String(scalar.value, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: return String(scalar)
        }
    }

    /// A number with at most three decimals.
    static func number(_ number: Double) -> String {
        let thousandths = Int64((number * 1000).rounded())
        let fraction = String(thousandths.magnitude % 1000 + 1000).dropFirst()
        return "\(thousandths < 0 ? "-" : "")\(thousandths.magnitude / 1000).\(fraction)"
    }
}
