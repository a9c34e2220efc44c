/// The help of a command: usage line, purpose, subcommands, arguments and options.
struct HelpText {
    private let path: [Command]
    /// The command, followed by the default subcommand if there is one.
    private let meant: [Command]

    /// - Parameter path: the commands from the program to this one.
    init(_ path: [Command]) {
        self.path = path
        var meant = [path[path.count - 1]]
        while let next = meant[meant.count - 1].subcommand(meant[meant.count - 1].defaultSubcommand) {
            meant.append(next)
        }
        self.meant = meant
    }

    /// The help in lines of at most `width` characters, unless a word is longer.
    func text(width: Int) -> String {
        let command = meant[0]
        let last = meant[meant.count - 1]
        var blocks = [Self.wrap(command.abstract, width: width).joined(separator: "\n"), "Usage: \(usage)"]
        if let discussion = command.discussion {
            blocks += discussion.split(separator: "\n\n").map {
                Self.wrap(String($0), width: width).joined(separator: "\n")
            }
        }
        var sections: [(title: String, rows: [(title: String, help: String)])] = []
        sections.append(
            (
                command.subcommandNoun.map { $0.prefix(1).uppercased() + $0.dropFirst() + "s" } ?? "Commands",
                command.subcommands.map {
                    ($0.name, $0.abstract + ($0.name == command.defaultSubcommand ? " [default]" : ""))
                }
            ))
        sections.append(("Arguments", last.positionals.map { ($0.title, Self.help(of: $0)) }))
        // The options nearest to the command come first, those that all commands share last.
        for group in meant.flatMap(\.groups) + path.dropLast().reversed().flatMap(\.groups) {
            sections.append((group.title, group.options.map { ($0.title, Self.help(of: $0)) }))
        }
        var general = [("-h, --help", "show this text")]
        if path[0].version != nil { general.append(("--version", "show the version")) }
        sections.append(("General", general))

        let titles = sections.flatMap(\.rows).map(\.title.count).filter { $0 <= Self.titleWidthMax }
        let column = 2 + (titles.max() ?? 0) + 2
        for section in sections where !section.rows.isEmpty {
            let rows = section.rows.map { Self.row($0.title, $0.help, column: column, width: width) }
            blocks.append("\(section.title):\n" + rows.joined(separator: "\n"))
        }
        if !command.subcommands.isEmpty {
            let noun = command.subcommandNoun ?? "command"
            let name = path.map(\.name).joined(separator: " ")
            blocks.append("More about a \(noun): \(name) \(noun.uppercased()) --help")
        }
        return blocks.joined(separator: "\n\n")
    }

    private static let titleWidthMax = 28
    /// A space at which lines are not broken.
    private static let glue: Character = "\u{A0}"

    private var usage: String {
        var words = path.map(\.name)
        for command in meant.dropFirst() { words.append("[\(command.name)]") }
        let last = meant[meant.count - 1]
        if !last.subcommands.isEmpty { words.append((last.subcommandNoun ?? "command").uppercased()) }
        words.append("[options]")
        words += last.positionals.map(\.title)
        if last.passesThrough, last.positionals.isEmpty { words.append("[arguments]") }
        return words.joined(separator: " ")
    }

    private static func help(of option: OptionDeclaration) -> String {
        // The title of a positional argument says it.
        let note = option.isRepeated ? "may be repeated" : option.isRequired ? "required" : nil
        var marks = option.isPositional ? [] : note.map { [$0] } ?? []
        if let text = option.defaultText { marks.append("default:\(Self.glue)\(text)") }
        if let variable = option.environment { marks.append("env:\(Self.glue)\(variable)") }
        return marks.isEmpty ? option.help : "\(option.help) [\(marks.joined(separator: ", "))]"
    }

    private static func row(_ title: String, _ help: String, column: Int, width: Int) -> String {
        let indent = String(repeating: " ", count: column)
        let lines = wrap(help, width: max(20, width - column))
        let head = "  " + title
        if head.count + 2 > column { return ([head] + lines.map { indent + $0 }).joined(separator: "\n") }
        let first = head + String(repeating: " ", count: column - head.count) + (lines.first ?? "")
        return ([first] + lines.dropFirst().map { indent + $0 }).joined(separator: "\n")
    }

    private static func wrap(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(whereSeparator: { $0.isWhitespace && $0 != glue }) {
            if let line = lines.last, line.count + 1 + word.count <= width {
                lines[lines.count - 1] = line + " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines.map { line in String(line.map { $0 == glue ? " " : $0 }) }
    }
}
