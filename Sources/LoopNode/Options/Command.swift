/// A program or one of its subcommands: its arguments and its purpose.
///
///     let program = Command("loopctl", abstract: "Watch and steer a loop.", subcommands: [
///         Command("status", abstract: "Show what the reducer is doing.", groups: [connection, output]),
///     ])
///     switch try program.parse(Array(CommandLine.arguments.dropFirst()), environment: environment) {
///     case .text(let text): print(text)
///     case .arguments(let arguments): run(arguments.path, arguments[reducer])
///     }
package struct Command: Sendable {
    /// The name of the program, or the word for the subcommand on the command line.
    package let name: String
    /// One sentence about its purpose.
    package let abstract: String
    /// Paragraphs below the usage line, or nil.
    package let discussion: String?
    /// Its options, which its subcommands take too.
    package let groups: [OptionGroup]
    /// Its positional arguments, in their order.
    package let positionals: [OptionDeclaration]
    /// Its subcommands. A command that has some takes no positional arguments itself.
    package let subcommands: [Command]
    /// The word for a subcommand, such as "loop". Errors then name all of them. Nil means "command".
    package let subcommandNoun: String?
    /// The subcommand that is used if none is named.
    package let defaultSubcommand: String?
    /// Whether unknown options and all positional arguments are collected in ``ParsedArguments/rest``, in order, and are no errors.
    package let passesThrough: Bool
    /// The text that `--version` prints. Only a program's outermost command has one.
    package let version: String?

    /// Creates a command from its parts.
    /// - Precondition: the default subcommand is one of `subcommands`, a command with subcommands has no positionals,
    ///   and no option is declared twice along one path of commands.
    package init(
        _ name: String, abstract: String, discussion: String? = nil, groups: [OptionGroup] = [],
        positionals: [any DeclaredOption] = [], subcommands: [Command] = [], subcommandNoun: String? = nil,
        defaultSubcommand: String? = nil, passesThrough: Bool = false, version: String? = nil
    ) {
        self.name = name
        self.abstract = abstract
        self.discussion = discussion
        self.groups = groups
        self.positionals = positionals.map(\.declaration)
        self.subcommands = subcommands
        self.subcommandNoun = subcommandNoun
        self.defaultSubcommand = defaultSubcommand
        self.passesThrough = passesThrough
        self.version = version
        precondition(
            defaultSubcommand == nil || subcommands.contains { $0.name == defaultSubcommand },
            "the default subcommand '\(defaultSubcommand ?? "")' of \(name) is none of its subcommands")
        precondition(
            positionals.isEmpty || subcommands.isEmpty, "\(name) has subcommands, so arguments belong to those")
        checkNames(above: [])
    }

    /// Parses a command line, and reads the environment for options that it does not give.
    ///
    /// - Parameters:
    ///   - arguments: the words after the program's name.
    ///   - environment: all variables; unknown and empty ones are ignored.
    ///   - width: the width of the help, in characters.
    /// - Throws: ``UsageError`` for the first mistake.
    package func parse(
        _ arguments: [String], environment: [String: String] = [:], width: Int = 100
    ) throws(UsageError) -> ParseOutcome {
        var parser = CommandParser(self, environment: environment)
        return try parser.parse(arguments, width: width)
    }

    func subcommand(_ name: String?) -> Command? { subcommands.first { $0.name == name } }

    /// Checks that no command line could give two options of one name, because one would hide the other.
    private func checkNames(above: [String]) {
        var names = above
        for name in groups.flatMap(\.options).map(\.name) {
            precondition(!names.contains(name), "--\(name) is declared twice for \(self.name)")
            names.append(name)
        }
        for command in subcommands { command.checkNames(above: names) }
    }
}

/// The result of a command line.
package enum ParseOutcome: Sendable {
    /// The program should run with these arguments.
    case arguments(ParsedArguments)
    /// The program should print this text, which is the help or the version, and exit with 0.
    case text(String)
}
