/// The declaration of one option: `--name VALUE`, `--name=VALUE`, or the environment variable of its name.
///
/// Declared once as a constant, put into an ``OptionGroup``, and used again to read its value:
///
///     let workers = Option("workers", .int(in: 1...1024), default: 4, help: "how many workers to start")
///     let count = arguments[workers]
public struct Option<Value: Sendable>: DeclaredOption {
    /// The option as the parser and the help see it, without the type of its value.
    public let declaration: OptionDeclaration
    /// The value of these texts, each of which fits; nil only if a required one was not given.
    let value: @Sendable ([String]) -> Value?

    /// An option that has a value when it is not given.
    ///
    /// - Parameters:
    ///   - name: without the dashes, lower case with `-` between words.
    ///   - type: how the value is parsed.
    ///   - value: the value without the option and its variable.
    ///   - help: what it decides, in a few words; the default and the variable are added to it.
    ///   - environment: which variable it may come from; `LOOP_` and the name in capitals unless given.
    public init(
        _ name: String, _ type: ValueType<Value>, default value: Value, help: String,
        environment: EnvironmentName = .fromName
    ) {
        declaration = OptionDeclaration(
            name, type, help: help, environment: environment, defaultText: type.write(value))
        self.value = { texts in texts.last.flatMap(type.read) ?? value }
    }

    /// An option that has to be given.
    public init(
        required name: String, _ type: ValueType<Value>, help: String, environment: EnvironmentName = .fromName
    ) {
        declaration = OptionDeclaration(name, type, help: help, environment: environment, isRequired: true)
        value = { texts in texts.last.flatMap(type.read) }
    }

    /// An option that may be absent.
    public init<Wrapped>(
        optional name: String, _ type: ValueType<Wrapped>, help: String, environment: EnvironmentName = .fromName
    ) where Value == Wrapped? {
        declaration = OptionDeclaration(name, type, help: help, environment: environment)
        value = { texts in .some(texts.last.flatMap(type.read)) }
    }

    /// An option that may be given several times; in its variable the values are separated by commas.
    public init<Element>(
        repeated name: String, _ type: ValueType<Element>, help: String, environment: EnvironmentName = .fromName
    ) where Value == [Element] {
        declaration = OptionDeclaration(name, type, help: help, environment: environment, isRepeated: true)
        value = { texts in texts.compactMap(type.read) }
    }

    /// A switch without a value: on where it stands on the command line, or where its variable is `1`, `true`, `yes` or `on`.
    public init(flag name: String, help: String, environment: EnvironmentName = .fromName) where Value == Bool {
        declaration = OptionDeclaration(
            name, .switchWord, help: help, environment: environment, isFlag: true)
        value = { texts in texts.last.flatMap(ValueType.switchWord.read) ?? false }
    }
}

/// Which environment variable an option may come from.
public enum EnvironmentName: Sendable, Hashable {
    /// `LOOP_` and the option's name in capitals, `_` for `-`.
    case fromName
    /// This one.
    case variable(String)
    /// None.
    case none

    func resolved(for name: String) -> String? {
        switch self {
        case .fromName: "LOOP_" + String(name.uppercased().map { $0 == "-" ? "_" : $0 })
        case .variable(let variable): variable
        case .none: nil
        }
    }
}

/// What all options have in common, whatever their value.
public protocol DeclaredOption: Sendable {
    /// The option without the type of its value.
    var declaration: OptionDeclaration { get }
}

/// An option as the parser and the help see it.
public struct OptionDeclaration: Sendable {
    /// Without the dashes.
    public let name: String
    /// The purpose of the option in a few words, without the default and the variable.
    public let help: String
    /// The variable's name, or nil.
    public let environment: String?
    /// Whether it is a switch, which takes no value.
    public let isFlag: Bool
    /// Whether it may be given several times. Of any other option the last value counts.
    public let isRepeated: Bool
    /// Whether its absence is an error.
    public let isRequired: Bool
    /// The default as the help shows it.
    public let defaultText: String?
    /// What stands for the value in the help.
    public let placeholder: String
    let expected: String
    /// Why a text does not fit, or nil when it does; for the option or variable that it came from.
    let misfit: @Sendable (_ text: String, _ source: String) -> UsageError?

    init<Value>(
        _ name: String, _ type: ValueType<Value>, help: String, environment: EnvironmentName,
        isFlag: Bool = false, isRepeated: Bool = false, isRequired: Bool = false, defaultText: String? = nil
    ) {
        precondition(
            !name.isEmpty && !name.hasPrefix("-") && !name.contains("=") && name != "help",
            "'\(name)' cannot name an option")
        self.name = name
        self.help = help
        self.environment = environment.resolved(for: name)
        self.isFlag = isFlag
        self.isRepeated = isRepeated
        self.isRequired = isRequired
        self.defaultText = defaultText
        placeholder = type.placeholder
        expected = type.expected
        misfit = { type.misfit($0, from: $1) }
    }

    /// `--name`, or `--name VALUE` where it takes one.
    var title: String { isFlag ? "--\(name)" : "--\(name) \(placeholder)" }
}

extension ValueType where Value == Bool {
    /// What a flag's variable may hold.
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
