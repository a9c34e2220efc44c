/// Texts from files as they are shown to people: on one line, and without power over a terminal.
package enum PrintedText {
    private static let scalarsMax = 64

    /// Escapes what does not print, and cuts what is long.
    package static func of(_ text: String) -> String {
        var shown = ""
        for (index, scalar) in text.unicodeScalars.enumerated() {
            if index == scalarsMax { return shown + "…" }
            if prints(scalar) { shown.unicodeScalars.append(scalar) } else { shown += scalar.escaped(asASCII: true) }
        }
        return shown
    }

    /// The path of a file as it is shown: whole, and escaped.
    package static func of(path: String) -> String {
        path.unicodeScalars.map { prints($0) ? String($0) : $0.escaped(asASCII: true) }.joined()
    }

    /// A path as a shell takes it.
    package static func word(path: String) -> String {
        let isPlain = path.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/._-".contains($0)) }
        if isPlain { return path }
        return "'" + of(path: path).map { $0 == "'" ? #"'\''"# : String($0) }.joined() + "'"
    }

    /// Whether a scalar takes its place on a line and does nothing else.
    static func prints(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}
