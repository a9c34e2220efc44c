/// Follows the words of a command line down the tree of commands, then checks the whole.
///
/// Options may come before or after the name of a subcommand. Which options exist is known after the last name.
struct CommandParser {
    private let environment: [String: String]
    /// The commands from the program to the one that the words have named so far.
    private var path: [Command]
    private var given: [(option: OptionDeclaration, text: String)] = []
    private var arguments: [String] = []
    private var rest: [String] = []
    private var wantsHelp = false
    private var wantsVersion = false
    /// Whether a word names no command, and is no argument. Then there is no help to show.
    private var isLost = false

    init(_ program: Command, environment: [String: String]) {
        path = [program]
        self.environment = environment
    }

    mutating func parse(_ words: [String], width: Int) throws(UsageError) -> ParseOutcome {
        let plain = words.prefix { $0 != "--" }
        wantsHelp = plain.contains("--help") || plain.contains("-h")
        do {
            try walk(words)
        } catch {
            if !wantsHelp || isLost { throw error }
        }
        if wantsHelp, !isLost { try checkArguments() }
        if wantsHelp { return .text(HelpText(path).text(width: width)) }
        if wantsVersion, let version = path.first?.version { return .text(version) }
        try descendToDefault()
        return .arguments(try assemble())
    }

    // MARK: Word by word

    private var command: Command { path[path.count - 1] }

    /// The options that are possible here: those of the path, and of the default subcommands below it.
    private var options: [OptionDeclaration] {
        var commands = path
        while let next = commands[commands.count - 1].subcommand(commands[commands.count - 1].defaultSubcommand) {
            commands.append(next)
        }
        return commands.flatMap(\.groups).flatMap(\.options)
    }

    private var passesThrough: Bool {
        var command = self.command
        while let next = command.subcommand(command.defaultSubcommand) { command = next }
        return command.passesThrough
    }

    private mutating func walk(_ words: [String]) throws(UsageError) {
        var words = words[...]
        while let word = words.popFirst() {
            if word == "--" {
                if passesThrough { rest.append(word) }
                for word in words { try argument(word, mayName: false) }
                return
            }
            if word == "--help" || word == "-h" { continue }
            if word == "--version", path[0].version != nil, !options.contains(where: { $0.name == "version" }) {
                wantsVersion = true
            } else if word.hasPrefix("--") {
                try option(word, following: &words)
            } else if word.hasPrefix("-"), word.count > 1, word.dropFirst().first?.isNumber == false {
                try unknown(word)
            } else {
                try argument(word, mayName: true)
            }
        }
    }

    private mutating func option(_ word: String, following words: inout ArraySlice<String>) throws(UsageError) {
        let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard let option = options.first(where: { $0.name == name }) else { return try unknown(word) }
        let text: String
        switch (option.isFlag, parts.count == 2) {
        case (true, true):
            throw UsageError(message: "--\(name) takes no value", hint: "write --\(name)")
        case (true, false):
            text = "1"
        case (false, true):
            text = String(parts[1])
        case (false, false):
            guard let next = words.first, !next.hasPrefix("--") else {
                throw UsageError(
                    message: "--\(name) needs a value",
                    hint: "write --\(name) \(option.placeholder), it takes \(option.expected)")
            }
            words.removeFirst()
            text = next
        }
        if let earlier = given.first(where: { $0.option.name == name }), !option.isRepeated, !option.isFlag {
            throw UsageError(
                message: "--\(name) is given twice, as '\(earlier.text)' and '\(text)'", hint: "give it once")
        }
        try Self.check([text], of: option, from: option.label)
        given.append((option, text))
    }

    private mutating func unknown(_ word: String) throws(UsageError) {
        if passesThrough { return rest.append(word) }
        let typed = String(word.prefix { $0 != "=" })
        var candidates = options.map { "--\($0.name)" } + ["--help"]
        if path[0].version != nil { candidates.append("--version") }
        let near = word.hasPrefix("--") ? Spelling.nearest(to: typed, in: candidates) : nil
        throw UsageError(message: "unknown option \(typed)", hint: near.map { "did you mean \($0)?" } ?? seeHelp)
    }

    private mutating func argument(_ word: String, mayName: Bool) throws(UsageError) {
        if mayName, arguments.isEmpty, rest.isEmpty, let named = command.subcommand(word) {
            path.append(named)
            return
        }
        try descendToDefault(atWord: word)
        if passesThrough { return rest.append(word) }
        arguments.append(word)
        let places = command.positionals
        guard arguments.count <= places.count || places.last?.isRepeated == true else {
            isLost = true
            let hint = places.isEmpty ? seeHelp : "it takes \(places.map(\.title).joined(separator: " "))"
            throw UsageError(message: "unexpected argument '\(word)'", hint: hint)
        }
    }

    /// Continues with the default subcommand if there is one. Otherwise a command with subcommands requires the name of one.
    private mutating func descendToDefault(atWord word: String? = nil) throws(UsageError) {
        while let next = command.subcommand(command.defaultSubcommand) { path.append(next) }
        guard !command.subcommands.isEmpty else { return }
        let names = command.subcommands.map(\.name)
        let noun = command.subcommandNoun
        guard let word else {
            let need = noun.map { "the name of a \($0)" } ?? "to be told what to do"
            throw UsageError(message: "\(title) needs \(need): \(names.joined(separator: ", "))", hint: seeHelp)
        }
        isLost = true
        let near = Spelling.nearest(to: word, in: names).map { "did you mean \($0)?" }
        let all = near == nil || noun != nil ? "there are \(names.joined(separator: ", "))" : nil
        throw UsageError(
            message: "unknown \(noun ?? "command") '\(word)'",
            hint: [near, all].compactMap { $0 }.joined(separator: " "))
    }

    private var title: String { path.map(\.name).joined(separator: " ") }

    private var seeHelp: String { "see \(title) --help" }

    // MARK: The whole

    private func assemble() throws(UsageError) -> ParsedArguments {
        let declared = path.flatMap(\.groups).flatMap(\.options)
        for (option, _) in given where !declared.contains(where: { $0.name == option.name }) {
            throw UsageError(message: "--\(option.name) is no option of \(title)", hint: seeHelp)
        }
        var values: [String: [String]] = [:]
        for option in declared {
            let texts = given.filter { $0.option.name == option.name }.map(\.text)
            values[option.label] = try texts.isEmpty ? variable(of: option) : texts
        }
        for option in declared where option.isRequired && values[option.label] == nil {
            let variable = option.environment.map { " or \($0)" } ?? ""
            throw UsageError(message: "\(option.label) is missing", hint: "give \(option.title)\(variable)")
        }
        var left = arguments[...]
        for place in command.positionals {
            let texts = Array(place.isRepeated ? left : left.prefix(1))
            left = left.dropFirst(texts.count)
            try Self.check(texts, of: place, from: place.label)
            values[place.label] = try texts.isEmpty ? variable(of: place) : texts
            if place.isRequired, values[place.label] == nil, !command.passesThrough {
                let variable = place.environment.map { ", or in \($0)" } ?? ""
                throw UsageError(message: "\(place.label) is missing", hint: "it is \(place.help)\(variable)")
            }
        }
        return ParsedArguments(path: path.dropFirst().map(\.name), rest: rest, texts: values)
    }

    private func variable(of option: OptionDeclaration) throws(UsageError) -> [String]? {
        guard let name = option.environment, let text = environment[name], !text.isEmpty else { return nil }
        let texts = option.isRepeated ? text.split(separator: ",").map(String.init) : [text]
        try Self.check(texts, of: option, from: name)
        return texts
    }

    /// Checks the arguments that are given, though some may be missing.
    private func checkArguments() throws(UsageError) {
        for (place, text) in zip(command.positionals, arguments) {
            try Self.check([text], of: place, from: place.label)
        }
    }

    private static func check(
        _ texts: [String], of option: OptionDeclaration, from source: String
    ) throws(UsageError) {
        for text in texts {
            if let misfit = option.misfit(text, source) { throw misfit }
        }
    }
}

/// A wrong command line or environment variable. It says in one line what is wrong and what to do.
///
/// The program prints `program: description` and exits with 64.
package struct UsageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, with the word in question: `unknown option --worker`.
    package let message: String
    /// What to do instead: `did you mean --workers?`.
    package let hint: String?

    /// Creates an error from its parts, and removes the passwords of URLs from them. Its description joins both in one line.
    package init(message: String, hint: String? = nil) {
        self.message = Redaction.of(message)
        self.hint = hint.map { Redaction.of($0) }
    }

    /// Message and hint in one line.
    package var description: String { hint.map { "\(message); \($0)" } ?? message }
}
