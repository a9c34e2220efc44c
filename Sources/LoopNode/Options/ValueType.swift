/// How the value of an option is parsed, written in the help, and described if it is not valid.
package struct ValueType<Value: Sendable>: Sendable {
    /// The word for the value in the help: `N`, `FILE`, `ENDPOINT`.
    package let placeholder: String
    /// The valid values, as text that follows "it takes": `a whole number from 1 to 64`.
    package let expected: String
    /// The valid words if there are few, for suggestions.
    let words: [String]
    let read: @Sendable (String) -> Value?
    /// What is wrong with an invalid text, if ``expected`` does not say it.
    let flaw: @Sendable (String) -> String?
    let write: @Sendable (Value) -> String

    /// Creates a custom type. `read` returns nil for an invalid text. The help shows a default as `write` gives it.
    package init(
        placeholder: String, expected: String, read: @escaping @Sendable (String) -> Value?,
        write: @escaping @Sendable (Value) -> String
    ) {
        self.init(placeholder: placeholder, expected: expected, words: [], read: read, write: write)
    }

    /// Creates a custom type with several kinds of invalid texts. `parse` throws what is wrong with a text.
    package init(
        placeholder: String, expected: String, parse: @escaping @Sendable (String) throws(Misfit) -> Value,
        write: @escaping @Sendable (Value) -> String
    ) {
        self.init(
            placeholder: placeholder, expected: expected, words: [], read: { try? parse($0) },
            flaw: { text in
                do throws(Misfit) {
                    _ = try parse(text)
                    return nil
                } catch {
                    return error.why
                }
            }, write: write)
    }

    init(
        placeholder: String, expected: String, words: [String], read: @escaping @Sendable (String) -> Value?,
        flaw: @escaping @Sendable (String) -> String? = { _ in nil }, write: @escaping @Sendable (Value) -> String
    ) {
        self.placeholder = placeholder
        self.expected = expected
        self.words = words
        self.read = read
        self.flaw = flaw
        self.write = write
    }

    /// This type with another word for the value in the help: `.string.named("FILE")`.
    package func named(_ placeholder: String) -> ValueType {
        ValueType(placeholder: placeholder, expected: expected, words: words, read: read, flaw: flaw, write: write)
    }

    /// Why the text is not valid, or nil if it is. `source` is the option, argument or variable that gave it.
    func misfit(_ text: String, from source: String) -> UsageError? {
        guard read(text) == nil else { return nil }
        let near = Spelling.nearest(to: text, in: words).map { "did you mean \($0)?" }
        let flaw = flaw(text).map { "\($0); " } ?? ""
        return UsageError(
            message: "\(source) cannot be '\(Redaction.of(value: text))': \(flaw)it takes \(expected)", hint: near)
    }
}

/// What is wrong with a text that cannot be read as a value.
package struct Misfit: Error {
    /// A reason that follows a colon, such as `it names no port`, or nil if `expected` says enough.
    let why: String?

    /// Creates the reason, which follows a colon: `it names no port`. Without one, the error only says what is expected.
    package init(_ why: String? = nil) { self.why = why }
}

extension ValueType where Value == String {
    /// Any text that is not empty.
    package static var string: ValueType {
        ValueType(
            placeholder: "TEXT", expected: "a text that is not empty", read: { $0.isEmpty ? nil : $0 }, write: { $0 })
    }

    /// The name of a file or folder. A text that looks like an address or an option is not valid.
    /// - Parameters:
    ///   - placeholder: the word for the value in the help.
    ///   - takesStream: whether `-` is valid too, for standard input or output.
    package static func path(_ placeholder: String = "FILE", takesStream: Bool = false) -> ValueType {
        ValueType(
            placeholder: placeholder, expected: "the name of a file or folder" + (takesStream ? ", or -" : ""),
            parse: { text throws(Misfit) in
                if takesStream, text == "-" { return text }
                if let flaw = FileName.flaw(in: text) { throw Misfit(flaw) }
                return text
            }, write: { $0 })
    }

    /// One of these words.
    package static func choice(_ words: [String]) -> ValueType {
        ValueType(
            placeholder: words.joined(separator: "|"), expected: Self.list(words), words: words,
            read: { words.contains($0) ? $0 : nil }, write: { $0 })
    }
}

extension ValueType where Value: RawRepresentable<String> & CaseIterable {
    /// One of the cases, by its raw value.
    package static var choice: ValueType {
        let words = Value.allCases.map(\.rawValue)
        return ValueType(
            placeholder: words.joined(separator: "|"), expected: Self.list(words), words: words,
            read: { Value(rawValue: $0) }, write: { $0.rawValue })
    }
}

extension ValueType {
    fileprivate static func list(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "nothing" }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }
}

extension ValueType where Value == Int {
    /// A whole number within the range.
    package static func int(in range: ClosedRange<Int> = .min ... .max) -> ValueType {
        let expected =
            switch (range.lowerBound, range.upperBound) {
            case (.min, .max): "a whole number"
            case (let low, .max): "a whole number of at least \(low)"
            case (.min, let high): "a whole number of at most \(high)"
            case (let low, let high): "a whole number from \(low) to \(high)"
            }
        return ValueType(
            placeholder: "N", expected: expected, read: { Int($0).flatMap { range.contains($0) ? $0 : nil } },
            write: { String($0) })
    }
}

extension ValueType where Value == Double {
    /// A number within the range, neither infinite nor "not a number".
    package static func number(
        in range: ClosedRange<Double> = -.greatestFiniteMagnitude ... .greatestFiniteMagnitude
    ) -> ValueType {
        let low = range.lowerBound == -.greatestFiniteMagnitude ? nil : Self.text(range.lowerBound)
        let high = range.upperBound == .greatestFiniteMagnitude ? nil : Self.text(range.upperBound)
        let expected =
            switch (low, high) {
            case (nil, nil): "a number"
            case (let low?, nil): "a number of at least \(low)"
            case (nil, let high?): "a number of at most \(high)"
            case (let low?, let high?): "a number from \(low) to \(high)"
            }
        return ValueType(
            placeholder: "X", expected: expected,
            read: { text in
                guard let number = Double(text), number.isFinite, range.contains(number) else { return nil }
                return number
            }, write: Self.text)
    }

    @Sendable private static func text(_ number: Double) -> String {
        let text = "\(number)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
