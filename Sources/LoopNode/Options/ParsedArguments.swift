/// A parsed command line: the command, and the values of its options and arguments.
package struct ParsedArguments: Sendable {
    /// The names of the subcommands, from the outermost one, without the program's own: `["status"]`.
    package let path: [String]
    /// For a command that passes arguments through: the unknown options and all positional arguments in order, and everything from
    /// `--` on.
    package let rest: [String]
    /// The texts of options and positional arguments, by their labels.
    let texts: [String: [String]]

    /// The value of an option or a positional argument: from the command line, else from its variable, else its default.
    ///
    /// Options of other commands have their defaults.
    package subscript<Value>(option: Option<Value>) -> Value {
        let label = option.declaration.label
        guard let value = option.value(texts[label] ?? []) else {
            preconditionFailure("\(label) is required but does not belong to '\(path.joined(separator: " "))'")
        }
        return value
    }
}
