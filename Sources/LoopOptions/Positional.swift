/// The declaration of an argument that is named by its place: `SITE` in `linkcheck [options] SITE`.
public struct Positional<Value: Sendable>: DeclaredPositional {
    /// The argument as the parser and the help see it, without the type of its value.
    public let declaration: PositionalDeclaration
    let value: @Sendable ([String]) -> Value?

    /// An argument that has to be given.
    ///
    /// - Parameters:
    ///   - name: the name in the help.
    ///   - type: how the value is parsed.
    ///   - help: what it means, in a few words.
    ///   - environment: a variable that stands in for it when it is absent; none unless given.
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
    /// The argument without the type of its value.
    var declaration: PositionalDeclaration { get }
}

/// A positional argument as the parser and the help see it.
public struct PositionalDeclaration: Sendable {
    /// In capitals: `SITE`.
    public let name: String
    /// The purpose of the argument in a few words.
    public let help: String
    /// The variable that stands in for it, or nil.
    public let environment: String?
    /// Whether its absence is an error.
    public let isRequired: Bool
    /// Whether it takes all arguments from its place on.
    public let isRepeated: Bool
    let expected: String
    /// Why a text does not fit, or nil when it does; for the option or variable that it came from.
    let misfit: @Sendable (_ text: String, _ source: String) -> UsageError?

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
        misfit = { type.misfit($0, from: $1) }
    }

    /// As the usage line shows it.
    var title: String {
        let title = isRepeated ? "\(name)…" : name
        return isRequired ? title : "[\(title)]"
    }
}
