/// The grammar of paths in a state.
package enum StatePath {
    /// The keys and numbers of a path, or nil if the text is not a path.
    package static func steps(of text: String) -> [String]? {
        var steps: [String] = []
        var rest = text[...]
        while !rest.isEmpty {
            if rest.first == "[" {
                guard let (step, after) = bracketed(rest.dropFirst()) else { return nil }
                steps.append(step)
                rest = after
            } else {
                if !steps.isEmpty {
                    guard rest.removeFirst() == "." else { return nil }
                }
                let name = rest.prefix { $0 != "." && $0 != "[" }
                guard !name.isEmpty else { return nil }
                steps.append(String(name))
                rest = rest[name.endIndex...]
            }
        }
        return steps.isEmpty ? nil : steps
    }

    /// A path as people write it, with numbers in brackets.
    package static func text(of steps: [String]) -> String {
        steps.enumerated().map { UInt32($1) == nil ? step($1, isFirst: $0 == 0) : "[\($1)]" }.joined()
    }

    /// A key as a step of a path: with a dot in front unless it is the first one, or in quotes and brackets if it needs them.
    private static func step(_ key: String, isFirst: Bool) -> String {
        if key.isEmpty || key.contains(where: { "\"\\.[]".contains($0) }) {
            return "[\"" + key.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\"]"
        }
        return isFirst ? key : ".\(key)"
    }

    /// A number or a quoted key, up to its bracket. In quotes a backslash escapes a quote or a backslash.
    private static func bracketed(_ text: Substring) -> (step: String, rest: Substring)? {
        guard text.first == "\"" else {
            let number = text.prefix { $0 != "]" }
            guard number.endIndex < text.endIndex, UInt32(number) != nil else { return nil }
            return (String(number), text[number.endIndex...].dropFirst())
        }
        var step = ""
        var rest = text.dropFirst()
        while let character = rest.popFirst() {
            switch character {
            case "\"": return rest.first == "]" ? (step, rest.dropFirst()) : nil
            case "\\":
                guard let next = rest.popFirst() else { return nil }
                step.append(next)
            default: step.append(character)
            }
        }
        return nil
    }
}
