/// A parsed command line: the command, and the values of its options and arguments.
public struct ParsedArguments: Sendable {
    /// Where the value of an option came from.
    public enum Source: Sendable, Hashable {
        /// From the words of the command line.
        case commandLine
        /// From the option's environment variable.
        case environment
        /// Not given: the option's default.
        case standard
    }

    /// The names of the subcommands, from the outermost on, without the program's own: `["status"]`.
    public let path: [String]
    /// Of a command that passes through: the unknown options and all positional arguments in their order, and what
    /// followed `--` with it.
    public let rest: [String]
    let options: [String: (texts: [String], source: Source)]
    let positionals: [String: [String]]

    /// The value of an option: what was given, else what its variable says, else its default.
    ///
    /// Options of other commands have their defaults.
    public subscript<Value>(option: Option<Value>) -> Value {
        let name = option.declaration.name
        guard let value = option.value(options[name]?.texts ?? []) else {
            preconditionFailure("--\(name) is required but is no option of '\(path.joined(separator: " "))'")
        }
        return value
    }

    /// The value of a positional argument.
    public subscript<Value>(positional: Positional<Value>) -> Value {
        let name = positional.declaration.name
        guard let value = positional.value(positionals[name] ?? []) else {
            preconditionFailure("\(name) is required but is no argument of '\(path.joined(separator: " "))'")
        }
        return value
    }

    /// Where the value of an option came from.
    public func source<Value>(of option: Option<Value>) -> Source {
        options[option.declaration.name]?.source ?? .standard
    }
}
