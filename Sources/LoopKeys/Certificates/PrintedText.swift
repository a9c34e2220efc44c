/// Makes texts from files safe to show to people: on one line, without control of a terminal.
package enum PrintedText {
    private static let scalarsMax = 64

    /// Escapes characters that do not print, and cuts long texts.
    package static func of(_ text: String) -> String {
        var shown = ""
        for (index, scalar) in text.unicodeScalars.enumerated() {
            if index == scalarsMax { return shown + "…" }
            if prints(scalar) { shown.unicodeScalars.append(scalar) } else { shown += scalar.escaped(asASCII: true) }
        }
        return shown
    }

    /// The path of a file for people: complete and escaped.
    package static func of(path: String) -> String {
        path.unicodeScalars.map { prints($0) ? String($0) : $0.escaped(asASCII: true) }.joined()
    }

    /// Whether a scalar prints on a line and has no other effect.
    static func prints(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}
