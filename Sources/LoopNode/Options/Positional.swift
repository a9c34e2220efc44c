/// The declaration of an argument that is identified by its position: `SITE` in `linkcheck [options] SITE`.
package struct Positional<Value: Sendable>: DeclaredPositional {
    /// The argument as the parser and the help see it, without the type of its value.
    package let declaration: PositionalDeclaration
    let value: @Sendable ([String]) -> Value?

    /// Creates an argument that must be given.
    ///
    /// - Parameters:
    ///   - name: the name in the help.
    ///   - type: how the value is parsed.
    ///   - help: the meaning of the argument, in a few words.
    ///   - environment: a variable that replaces the argument if it is absent; none by default.
    package init(_ name: String, _ type: ValueType<Value>, help: String, environment: String? = nil) {
        declaration = PositionalDeclaration(name, type, help: help, environment: environment, isRequired: true)
        value = { texts in texts.last.flatMap(type.read) }
    }

    /// Creates an argument that may be absent. Only arguments that may be absent can follow it.
    package init<Wrapped>(
        optional name: String, _ type: ValueType<Wrapped>, help: String, environment: String? = nil
    ) where Value == Wrapped? {
        declaration = PositionalDeclaration(name, type, help: help, environment: environment)
        value = { texts in .some(texts.last.flatMap(type.read)) }
    }

    /// Creates an argument that takes all words from here on. It must be the last of its command.
    package init<Element>(repeated name: String, _ type: ValueType<Element>, atLeast minimum: Int = 0, help: String)
    where Value == [Element] {
        declaration = PositionalDeclaration(
            name, type, help: help, environment: nil, isRequired: minimum > 0, isRepeated: true)
        value = { texts in texts.compactMap(type.read) }
    }
}

/// What positional arguments of all types have in common.
package protocol DeclaredPositional: Sendable {
    /// The argument without the type of its value.
    var declaration: PositionalDeclaration { get }
}

/// A positional argument as the parser and the help see it.
package struct PositionalDeclaration: Sendable {
    /// The name in capitals, such as `SITE`.
    package let name: String
    /// The purpose of the argument in a few words.
    package let help: String
    /// The variable that replaces an absent argument, or nil.
    package let environment: String?
    /// Whether its absence is an error.
    package let isRequired: Bool
    /// Whether it takes all arguments from its position on.
    package let isRepeated: Bool
    /// Why a text is not valid, or nil if it is. `source` is the argument or variable that gave it.
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
        misfit = { type.misfit($0, from: $1) }
    }

    /// The argument in the usage line.
    var title: String {
        let title = isRepeated ? "\(name)…" : name
        return isRequired ? title : "[\(title)]"
    }
}
