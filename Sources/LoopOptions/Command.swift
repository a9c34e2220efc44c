/// A program or one of its subcommands: what it takes and what it is for.
///
///     let program = Command("loopctl", abstract: "Watch and steer a loop.", subcommands: [
///         Command("status", abstract: "Show what the reducer is doing.", groups: [connection, output]),
///     ])
///     switch try program.parse(Array(CommandLine.arguments.dropFirst()), environment: environment) {
///     case .text(let text): print(text)
///     case .arguments(let arguments): run(arguments.path, arguments[reducer])
///     }
public struct Command: Sendable {
    /// The word that names it: the program's name, or the subcommand's on the command line.
    public let name: String
    /// One sentence.
    public let abstract: String
    /// Paragraphs below the usage line, or nil.
    public let discussion: String?
    /// Its options, which its subcommands take too.
    public let groups: [OptionGroup]
    /// Its positional arguments, in their order.
    public let positionals: [PositionalDeclaration]
    /// Its subcommands. A command that has some takes no positional arguments itself.
    public let subcommands: [Command]
    /// What its subcommands are for people, such as "loop"; nil: commands. Errors about them then name all of them.
    public let subcommandNoun: String?
    /// The subcommand that is meant where none is named.
    public let defaultSubcommand: String?
    /// Unknown options and all positional arguments are no errors but end in ``ParsedArguments/rest``, in their order.
    public let passesThrough: Bool
    /// What `--version` prints; only a program's outermost command has one.
    public let version: String?

    /// Creates a command from its parts.
    /// - Precondition: the default subcommand is one of `subcommands`, a command with subcommands has no positionals,
    ///   and no option is declared twice along one path of commands.
    public init(
        _ name: String, abstract: String, discussion: String? = nil, groups: [OptionGroup] = [],
        positionals: [any DeclaredPositional] = [], subcommands: [Command] = [], subcommandNoun: String? = nil,
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

    /// Reads a command line, and the environment for what it does not say.
    ///
    /// - Parameters:
    ///   - arguments: the words after the program's name.
    ///   - environment: all variables; unknown ones, and empty ones, are not looked at.
    ///   - width: of the help, in characters.
    /// - Throws: ``UsageError`` for the first mistake.
    public func parse(
        _ arguments: [String], environment: [String: String] = [:], width: Int = 100
    ) throws(UsageError) -> ParseOutcome {
        var parser = CommandParser(self, environment: environment)
        return try parser.parse(arguments, width: width)
    }

    func subcommand(_ name: String?) -> Command? { subcommands.first { $0.name == name } }

    /// Two options of one name that one command line could give would hide each other.
    private func checkNames(above: [String]) {
        var names = above
        for name in groups.flatMap(\.options).map(\.name) {
            precondition(!names.contains(name), "--\(name) is declared twice for \(self.name)")
            names.append(name)
        }
        for command in subcommands { command.checkNames(above: names) }
    }
}

/// What a command line asks for.
public enum ParseOutcome: Sendable {
    /// To do something.
    case arguments(ParsedArguments)
    /// To print this and to exit with 0: the help or the version.
    case text(String)
}
