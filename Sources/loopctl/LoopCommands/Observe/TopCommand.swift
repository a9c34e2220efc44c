import Linux
import LoopNode
import ZMQ

/// `loopctl top` shows the status again and again.
enum TopCommand {
    static let every = Option(
        "every", .duration(in: .milliseconds(100) ... .seconds(3600)), default: .seconds(1),
        help: "how long it waits before it asks again")

    static let subcommand = Subcommand(
        command: Command(
            "top", abstract: "Show what a reducer is doing, again and again.",
            discussion: """
                What status shows, over what it showed before; in a pipe or a file, one below the other. If no reducer \
                answers, it says why, and goes on. Ends at a signal, such as Ctrl-C.

                Exit codes: 130 stopped, 64 wrong usage.
                """,
            groups: [ConnectionOptions.group, OptionGroup("Output", [StatusCommand.all, every])]),
        run: { arguments, _ in
            let signals = try SignalPipe.ofProcess()
            var polls = PollSet()
            polls.add(descriptor: signals.descriptor)
            let pause = Int(arguments[every] / .milliseconds(1))
            repeat {
                try StandardOutput.write(page(of: status(arguments), on: Terminals.size(of: 1)))
            } while try polls.wait(milliseconds: pause) == 0
            return 130
        })

    private static func status(_ arguments: ParsedArguments) -> String {
        do {
            return try arguments.askTable(within: arguments[ConnectionOptions.timeout]).text
        } catch {
            return "loopctl: \(error)"
        }
    }

    /// A text that takes the place of what a terminal shows, as much of it as there is space for.
    /// - Parameter terminal: the size of the terminal, or nil if the text is added to a pipe or a file.
    static func page(of text: String, on terminal: (columns: Int, rows: Int)?) -> String {
        guard let (columns, rows) = terminal else { return text + "\n\n" }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).prefix(max(rows - 1, 1))
        let clear = "\u{1B}[H\u{1B}[2J"
        return clear + lines.map { $0.prefix(columns) }.joined(separator: "\n") + "\n"
    }
}
