/// Makes text safe for a terminal, which shows it and does not obey it. Names, reasons and log lines may come from other machines.
package enum PrintableText {
    /// Escapes control characters, and those that change the direction of writing, as `\u{1B}`. Newlines and tabs stay.
    package static func lines(_ text: String) -> String { escape(text) { $0 == "\n" || $0 == "\t" } }

    /// Escapes as `lines` does, and newlines too, so that the text stays on one line.
    package static func line(_ text: String) -> String { escape(text) { $0 == "\t" } }

    /// Escapes control characters in a JSON text as JSON does, so that its meaning stays.
    package static func json(_ text: String) -> String {
        escape(text, unless: { $0 == "\n" || $0 == "\t" || $0 == "\r" }) { scalar in
            let digits = String(scalar.value, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }

    private static func escape(
        _ text: String, unless isKept: (Unicode.Scalar) -> Bool,
        as form: (Unicode.Scalar) -> String = { "\\u{\(String($0.value, radix: 16, uppercase: true))}" }
    ) -> String {
        func isEscaped(_ scalar: Unicode.Scalar) -> Bool { isControl(scalar) && !isKept(scalar) }
        guard text.unicodeScalars.contains(where: isEscaped) else { return text }
        var escaped = ""
        for scalar in text.unicodeScalars {
            if isEscaped(scalar) {
                escaped += form(scalar)
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0: true
        case 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
