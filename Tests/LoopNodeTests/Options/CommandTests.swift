import LoopNode
import Testing

@Suite struct `Commands` {
    @Test func `a subcommand is found and the default one is meant where none is named`() throws {
        #expect(try Sample.parse("linkcheck", "site").path == ["linkcheck", "run"])
        #expect(try Sample.parse("linkcheck", "run", "site").path == ["linkcheck", "run"])
        let history = try Sample.parse("linkcheck", "history", "file", "1", "2")
        #expect(history.path == ["linkcheck", "history"])
        #expect(history[Sample.journal] == "file")
        #expect(history[Sample.range] == [1, 2])
    }

    @Test func `options may stand before and after the subcommand`() throws {
        for words in [["--reducer", "tcp://a:1", "status", "--json"], ["status", "--json", "--reducer=tcp://a:1"]] {
            guard case .arguments(let arguments) = try Sample.control.parse(words) else {
                Issue.record("a text")
                return
            }
            #expect(arguments.path == ["status"])
            #expect(arguments[Sample.reducer] == "tcp://a:1")
            #expect(arguments[Sample.json])
        }
        #expect(try Sample.parse("linkcheck", "--bind", "tcp://a:1", "run", "s")[Sample.bind] == "tcp://a:1")
    }

    @Test func `an optional argument may be absent`() throws {
        let without = try Sample.parse("send", "{}", "--token=t", program: Sample.control)
        let with = try Sample.parse("send", "{}", "because", "--token=t", program: Sample.control)
        #expect(without[Sample.note] == nil)
        #expect(with[Sample.note] == "because")
    }

    @Test func `options of another command have their defaults`() throws {
        let arguments = try Sample.parse("status", program: Sample.control)
        #expect(arguments[Sample.rate] == 10)
    }

    @Test func `a command that passes through hands on what it does not know, in order`() throws {
        let command = Command("node", abstract: "Pass.", groups: [Sample.node], passesThrough: true)
        let arguments = try Sample.parse(
            "--external", "--bind", "tcp://a:1", "SITE", "--per-host", "3", "-v", "--insecure", "--", "--bind", "x",
            program: command)
        #expect(arguments[Sample.bind] == "tcp://a:1")
        #expect(arguments[Sample.insecure])
        #expect(arguments.rest == ["--external", "SITE", "--per-host", "3", "-v", "--", "--bind", "x"])

        let own = Command("own", abstract: "Own.", groups: [Sample.linkcheck])
        #expect(try own.parse(["--external", "--per-host", "3"]).arguments?[Sample.perHost] == 3)
        #expect(throws: UsageError.self) { try Sample.parse("--bind", program: command) }
    }

    @Test func `help and version are texts, wherever they stand and whatever else is wrong`() throws {
        #expect(try Sample.program.parse(["--version"]).text == "loop-reducer 1.0")
        #expect(try Sample.program.parse(["linkcheck", "--help"]).text?.hasPrefix("Check the links of") == true)
        #expect(try Sample.program.parse(["-h"]).text == Sample.program.helpText())
        #expect(try Sample.program.parse(["-h", "linkcheck"]).text == Sample.program.helpText(of: ["linkcheck"]))
        #expect(try Sample.program.parse(["linkcheck", "--nonsense", "-h"]).text?.contains("Usage: ") == true)
        #expect(try Sample.program.parse(["linkcheck", "--", "--help"]).arguments?[Sample.site] == "--help")
    }
}

extension ParseOutcome {
    var arguments: ParsedArguments? { if case .arguments(let arguments) = self { arguments } else { nil } }
    var text: String? { if case .text(let text) = self { text } else { nil } }
}

extension Command {
    /// The help of this command, or of one below it.
    func helpText(of path: [String] = [], width: Int = 100) -> String {
        (try? parse(path + ["--help"], width: width).text) ?? ""
    }
}
