/// The declaration of one option: `--name VALUE`, `--name=VALUE`, or the environment variable of its name. A positional one is
/// identified by its position: `SITE` in `linkcheck [options] SITE`.
///
/// Declare it once as a constant, put it into an ``OptionGroup`` or among the positionals of a ``Command``, and use it again to
/// read its value:
///
///     let workers = Option("workers", .int(in: 1...1024), default: 4, help: "how many workers to start")
///     let count = arguments[workers]
package struct Option<Value: Sendable>: DeclaredOption {
    /// The option as the parser and the help see it, without the type of its value.
    package let declaration: OptionDeclaration
    /// The value of these valid texts. It is nil only if a required option was not given.
    let value: @Sendable ([String]) -> Value?

    /// Creates an option with a default value.
    ///
    /// - Parameters:
    ///   - name: the name without the dashes, in lower case with `-` between words.
    ///   - type: how the value is parsed.
    ///   - value: the value if neither the option nor its variable is given.
    ///   - help: what the option decides, in a few words; the default and the variable are added to it.
    ///   - environment: the variable that can give it; by default `LOOP_` and the name in capitals.
    package init(
        _ name: String, _ type: ValueType<Value>, default value: Value, help: String,
        environment: EnvironmentName = .fromName
    ) {
        declaration = OptionDeclaration(
            name, type, help: help, environment: environment, defaultText: type.write(value))
        self.value = { texts in texts.last.flatMap(type.read) ?? value }
    }

    /// Creates an option that must be given.
    package init(
        required name: String, _ type: ValueType<Value>, help: String, environment: EnvironmentName = .fromName
    ) {
        declaration = OptionDeclaration(name, type, help: help, environment: environment, isRequired: true)
        value = { texts in texts.last.flatMap(type.read) }
    }

    /// Creates an option that may be absent.
    package init<Wrapped>(
        optional name: String, _ type: ValueType<Wrapped>, help: String, environment: EnvironmentName = .fromName
    ) where Value == Wrapped? {
        declaration = OptionDeclaration(name, type, help: help, environment: environment)
        value = { texts in .some(texts.last.flatMap(type.read)) }
    }

    /// Creates an option that may be given several times. In its variable, commas separate the values.
    package init<Element>(
        repeated name: String, _ type: ValueType<Element>, help: String, environment: EnvironmentName = .fromName
    ) where Value == [Element] {
        declaration = OptionDeclaration(name, type, help: help, environment: environment, isRepeated: true)
        value = { texts in texts.compactMap(type.read) }
    }

    /// Creates a switch without a value. It is on if the command line has it, or if its variable is `1`, `true`, `yes` or `on`.
    package init(flag name: String, help: String, environment: EnvironmentName = .fromName) where Value == Bool {
        declaration = OptionDeclaration(
            name, .switchWord, help: help, environment: environment, isFlag: true)
        value = { texts in texts.last.flatMap(ValueType.switchWord.read) ?? false }
    }

    /// Creates a positional argument that must be given. Its name is in capitals.
    package init(
        positional name: String, _ type: ValueType<Value>, help: String, environment: EnvironmentName = .none
    ) {
        declaration = OptionDeclaration(
            name, type, help: help, environment: environment, isPositional: true, isRequired: true)
        value = { texts in texts.last.flatMap(type.read) }
    }

    /// Creates a positional argument that may be absent. Only arguments that may be absent can follow it.
    package init<Wrapped>(optionalPositional name: String, _ type: ValueType<Wrapped>, help: String)
    where Value == Wrapped? {
        declaration = OptionDeclaration(name, type, help: help, environment: .none, isPositional: true)
        value = { texts in .some(texts.last.flatMap(type.read)) }
    }

    /// Creates a positional argument that takes all words from here on. It must be the last of its command.
    package init<Element>(
        repeatedPositional name: String, _ type: ValueType<Element>, atLeast minimum: Int = 0, help: String
    ) where Value == [Element] {
        declaration = OptionDeclaration(
            name, type, help: help, environment: .none, isPositional: true, isRepeated: true, isRequired: minimum > 0)
        value = { texts in texts.compactMap(type.read) }
    }
}

/// The environment variable that can give an option.
package enum EnvironmentName: Sendable, Hashable {
    /// `LOOP_` and the option's name in capitals, with `_` for `-`.
    case fromName
    /// The variable of this name.
    case variable(String)
    /// No variable.
    case none

    func resolved(for name: String) -> String? {
        switch self {
        case .fromName: "LOOP_" + String(name.uppercased().map { $0 == "-" ? "_" : $0 })
        case .variable(let variable): variable
        case .none: nil
        }
    }
}

/// What options of all types have in common.
package protocol DeclaredOption: Sendable {
    /// The option without the type of its value.
    var declaration: OptionDeclaration { get }
}

/// An option as the parser and the help see it.
package struct OptionDeclaration: Sendable {
    /// The name without the dashes, or that of a positional argument in capitals, such as `SITE`.
    package let name: String
    /// The purpose of the option in a few words, without the default and the variable.
    package let help: String
    /// The variable's name, or nil.
    package let environment: String?
    /// Whether it is identified by its position.
    let isPositional: Bool
    /// Whether it is a switch, which takes no value.
    package let isFlag: Bool
    /// Whether it may be given several times, or takes all arguments from its position on. Of any other option the last value counts.
    package let isRepeated: Bool
    /// Whether its absence is an error.
    package let isRequired: Bool
    /// The default as the help shows it.
    package let defaultText: String?
    /// The word for the value in the help.
    package let placeholder: String
    let expected: String
    /// Why a text is not valid, or nil if it is. `source` is the option or variable that gave it.
    let misfit: @Sendable (_ text: String, _ source: String) -> UsageError?

    init<Value>(
        _ name: String, _ type: ValueType<Value>, help: String, environment: EnvironmentName,
        isPositional: Bool = false, isFlag: Bool = false, isRepeated: Bool = false, isRequired: Bool = false,
        defaultText: String? = nil
    ) {
        precondition(
            !name.isEmpty && !name.hasPrefix("-") && !name.contains("=") && name != "help",
            "'\(name)' cannot name an option")
        self.name = name
        self.help = help
        self.environment = environment.resolved(for: name)
        self.isPositional = isPositional
        self.isFlag = isFlag
        self.isRepeated = isRepeated
        self.isRequired = isRequired
        self.defaultText = defaultText
        placeholder = type.placeholder
        expected = type.expected
        misfit = { type.misfit($0, from: $1) }
    }

    /// How errors name it: `--name`, or `NAME` if it is positional.
    var label: String { isPositional ? name : "--\(name)" }

    /// The title in the help: `--name`, or `--name VALUE` if the option takes a value. A positional one is in brackets if it may be
    /// absent.
    var title: String {
        guard isPositional else { return isFlag ? label : "\(label) \(placeholder)" }
        let title = isRepeated ? "\(name)…" : name
        return isRequired ? title : "[\(title)]"
    }
}

extension ValueType where Value == Bool {
    /// The valid texts of a flag's variable.
    static var switchWord: ValueType {
        ValueType(
            placeholder: "1|0", expected: "1, true, yes, on, 0, false, no or off",
            read: {
                [
                    "1": true, "true": true, "yes": true, "on": true, "0": false, "false": false, "no": false,
                    "off": false,
                ][$0]
            }, write: { $0 ? "1" : "0" })
    }
}

/// Options that belong together: one section of the help. A command has any number of groups, also of several authors, such as a
/// node's and a loop's own. Each author reads its options from the one result.
package struct OptionGroup: Sendable {
    /// The heading in the help, without a colon.
    package let title: String
    /// The options of the section, in the order of the help.
    package let options: [OptionDeclaration]

    /// - Parameters:
    ///   - title: the group's heading in the help.
    ///   - options: the options of the group, in the order of the help.
    package init(_ title: String, _ options: [any DeclaredOption]) {
        self.title = title
        self.options = options.map(\.declaration)
    }
}
