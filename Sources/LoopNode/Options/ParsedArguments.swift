/// A parsed command line: the command, and the values of its options and arguments.
package struct ParsedArguments: Sendable {
    /// The names of the subcommands, from the outermost one, without the program's own: `["status"]`.
    package let path: [String]
    /// For a command that passes arguments through: the unknown options and all positional arguments in order, and everything from
    /// `--` on.
    package let rest: [String]
    let options: [String: [String]]
    let positionals: [String: [String]]

    /// The value of an option: from the command line, else from its variable, else its default.
    ///
    /// Options of other commands have their defaults.
    package subscript<Value>(option: Option<Value>) -> Value {
        let name = option.declaration.name
        guard let value = option.value(options[name] ?? []) else {
            preconditionFailure("--\(name) is required but is no option of '\(path.joined(separator: " "))'")
        }
        return value
    }

    /// The value of a positional argument.
    package subscript<Value>(positional: Positional<Value>) -> Value {
        let name = positional.declaration.name
        guard let value = positional.value(positionals[name] ?? []) else {
            preconditionFailure("\(name) is required but is no argument of '\(path.joined(separator: " "))'")
        }
        return value
    }
}
