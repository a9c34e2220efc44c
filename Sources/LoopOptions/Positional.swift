/// The declaration of an argument that is named by its place: `SITE` in `linkcheck [options] SITE`.
public struct Positional<Value: Sendable>: DeclaredPositional {
    public let declaration: PositionalDeclaration
    let value: @Sendable ([String]) -> Value?

    /// An argument that has to be given.
    ///
    /// - Parameter environment: a variable that stands in for it when it is absent; none unless given.
    public init(_ name: String, _ type: ValueType<Value>, help: String, environment: String? = nil) {
        declaration = PositionalDeclaration(name, type, help: help, environment: environment, isRequired: true)
        value = { texts in texts.last.flatMap(type.read) }
    }

    /// An argument that may be absent. Only such ones may follow it.
    public init<Wrapped>(
        optional name: String, _ type: ValueType<Wrapped>, help: String, environment: String? = nil
    ) where Value == Wrapped? {
        declaration = PositionalDeclaration(name, type, help: help, environment: environment)
        value = { texts in .some(texts.last.flatMap(type.read)) }
    }

    /// All arguments from here on; the last of its command.
    public init<Element>(repeated name: String, _ type: ValueType<Element>, atLeast minimum: Int = 0, help: String)
    where Value == [Element] {
        declaration = PositionalDeclaration(
            name, type, help: help, environment: nil, isRequired: minimum > 0, isRepeated: true)
        value = { texts in texts.compactMap(type.read) }
    }
}

/// What all positional arguments have in common, whatever their value.
public protocol DeclaredPositional: Sendable {
    var declaration: PositionalDeclaration { get }
}

/// A positional argument as the parser and the help see it.
public struct PositionalDeclaration: Sendable {
    /// In capitals: `SITE`.
    public let name: String
    public let help: String
    /// The variable that stands in for it, or nil.
    public let environment: String?
    public let isRequired: Bool
    public let isRepeated: Bool
    let expected: String
    let words: [String]
    let fits: @Sendable (String) -> Bool

    init<Value>(
        _ name: String, _ type: ValueType<Value>, help: String, environment: String?, isRequired: Bool = false,
        isRepeated: Bool = false
    ) {
        self.name = name
        self.help = help
        self.environment = environment
        self.isRequired = isRequired
        self.isRepeated = isRepeated
        expected = type.expected
        words = type.words
        fits = { type.read($0) != nil }
    }

    /// As the usage line shows it.
    var title: String {
        let title = isRepeated ? "\(name)…" : name
        return isRequired ? title : "[\(title)]"
    }

    func misfit(_ text: String, from source: String) -> UsageError? {
        guard !fits(text) else { return nil }
        let near = Spelling.nearest(to: text, in: words).map { "did you mean \($0)?" }
        return UsageError(message: "\(source) cannot be '\(text)': it takes \(expected)", hint: near)
    }
}
