import LoopNode
import Testing

@testable import LoopCommands

@Suite struct `Command lines of loopctl` {
    @Test(arguments: [
        (
            [],
            "loopctl needs to be told what to do: up, status, top, ready, tail, send, effects, why, who, quarantine, "
                + "schedules, history, state, diff, schema, verify, trim, step-down, serve, console, journal, doctor, keygen, new; see loopctl --help"
        ),
        (["stats"], "unknown command 'stats'; did you mean status?"),
        (["status", "--jsn"], "unknown option --jsn; did you mean --json?"),
        (
            ["status", "--reducer", "7710"],
            "--reducer cannot be '7710': it begins with none of tcp://, ipc://, inproc://; "
                + "it takes tcp://HOST:PORT, ipc://PATH or inproc://NAME"
        ),
        (["tail", "--count", "0"], "--count cannot be '0': it takes a whole number of at least 1"),
        (
            ["serve", ".", "--bind", "8080"],
            "--bind cannot be '8080': it takes an address such as 127.0.0.1:8080 or [::1]:8080"
        ),
        (["up", "--workers", "many"], "--workers cannot be 'many': it takes a whole number from 0 to 256"),
    ])
    func `that cannot be meant so are answered with one line`(words: [String], line: String) {
        let error = #expect(throws: UsageError.self) { try ControlProgram.command.parse(words) }
        #expect(error?.description == line)
    }

    @Test(arguments: [["send"], ["send", "--flush"], ["send", "--outbox", "f"], ["send", "{"], ["send", "1", "2"]])
    func `of send need an event, or an outbox to flush`(words: [String]) async {
        #expect(await ControlProgram.run(words, environment: [:]) == 64)
    }

    @Test func `options come from the environment too, and the command line overrules it`() throws {
        let environment = ["LOOP_WORKERS": "7", "LOOP_JSON": "out.json", "LOOP_QUIET": "1"]
        let request = try upRequest(["up", "linkcheck", "--workers", "2", "docs"], environment)
        #expect(request.options[UpCommand.workers] == 2)
        #expect(request.options[UpCommand.json] == "out.json")
        #expect(request.options[UpCommand.quiet])
    }

    @Test func `of up keep what belongs to the loop, in its order`() throws {
        let words = [
            "up", "--workers=3", "linkcheck", "--external", "--capacity", "5", "--timeout", "2s", "docs", "--", "--x",
        ]
        let request = try upRequest(words)
        #expect(request.loop == "linkcheck")
        #expect(request.options[UpCommand.workers] == 3)
        #expect(request.options[UpCommand.capacity] == 5)
        #expect(request.loopArguments == ["--external", "--timeout", "2s", "docs", "--", "--x"])
    }

    @Test(arguments: [
        (["up"], "LOOP is missing; name it, as in: loopctl up linkcheck URL"),
        (
            ["up", "--external", "linkcheck"],
            "--external stands before the loop's name; if it is an option of the loop write: loopctl up LOOP --external"
        ),
    ])
    func `of up name the loop first`(words: [String], line: String) {
        let error = #expect(throws: UsageError.self) { try upRequest(words) }
        #expect(error?.description == line)
    }

    @Test(arguments: [["--version"], ["status", "--version"], ["--help"], ["up", "linkcheck", "--help"]])
    func `that ask for a text exit with 0`(words: [String]) throws {
        guard case .text(let text) = try ControlProgram.command.parse(words) else {
            Issue.record("no text")
            return
        }
        #expect(!text.isEmpty)
    }
}
