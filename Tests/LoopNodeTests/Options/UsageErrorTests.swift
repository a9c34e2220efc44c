import LoopNode
import Testing

@Suite struct `Usage errors` {
    @Test(arguments: [
        (["linkcheck", "--bnid=x", "s"], "unknown option --bnid; did you mean --bind?"),
        (["linkcheck", "--headers", "x"], "unknown option --headers; did you mean --header?"),
        (["linkcheck", "--sil", "3s"], "unknown option --sil; did you mean --silence-limit?"),
        (["linkcheck", "--hlep"], "unknown option --hlep; did you mean --help?"),
        (["linkcheck", "--zzzzzz"], "unknown option --zzzzzz; see loop-reducer linkcheck --help"),
        (["linkcheck", "-x"], "unknown option -x; see loop-reducer linkcheck --help"),
        (
            ["linkcheck", "--bind"],
            "--bind needs a value; write --bind ENDPOINT, it takes an endpoint such as tcp://HOST:PORT or ipc://PATH"
        ),
        (
            ["linkcheck", "--keys", "--external", "s"],
            "--keys needs a value; write --keys FILE, it takes a text that is not empty"
        ),
        (["linkcheck", "--external=yes", "s"], "--external takes no value; write --external"),
        (["linkcheck", "--per-host", "0", "s"], "--per-host cannot be '0': it takes a whole number from 1 to 64"),
        (
            ["linkcheck", "--bind", "7710", "s"],
            "--bind cannot be '7710': it has no scheme; it takes an endpoint such as tcp://HOST:PORT or ipc://PATH"
        ),
        (["linkcheck", "--keys", "a", "--keys", "b", "s"], "--keys is given twice, as 'a' and 'b'; give it once"),
        (["linkcheck"], "SITE is missing; it is a URL or a folder, or in LOOP_SITE"),
        (["linkcheck", "a", "b"], "unexpected argument 'b'; it takes SITE"),
        (["linkchek", "a"], "unknown command 'linkchek'; did you mean linkcheck?"),
        (["traffic"], "unknown command 'traffic'; there are linkcheck"),
        ([], "loop-reducer needs to be told what to do: linkcheck; see loop-reducer --help"),
        (
            ["linkcheck", "verify", "--external", "j"],
            "unknown option --external; see loop-reducer linkcheck verify --help"
        ),
        (
            ["linkcheck", "--external", "verify", "j"],
            "--external is no option of loop-reducer linkcheck verify; see loop-reducer linkcheck verify --help"
        ),
        (["linkcheck", "history", "j", "x"], "SEQ cannot be 'x': it takes a whole number of at least 1"),
    ])
    func `the line says what is wrong and what to do`(words: [String], line: String) {
        let error = #expect(throws: UsageError.self) { try Sample.program.parse(words) }
        #expect(error?.description == line)
    }

    @Test(arguments: [
        (["tail", "--mode", "evnet"], "--mode cannot be 'evnet': it takes full, delta or event; did you mean event?"),
        (["tail", "--mode", "x"], "--mode cannot be 'x': it takes full, delta or event"),
        (["statsu"], "unknown command 'statsu'; did you mean status?"),
        (["send", "{}"], "--token is missing; give --token TEXT or LOOP_ADMIN_TOKEN"),
        (["send", "--token", "t"], "EVENT is missing; it is the event as JSON"),
        (["status", "now"], "unexpected argument 'now'; see loopctl status --help"),
        (["--version"], "unknown option --version; see loopctl --help"),
        (["--json"], "unknown option --json; see loopctl --help"),
    ])
    func `the line of a program with subcommands says it too`(words: [String], line: String) {
        let error = #expect(throws: UsageError.self) { try Sample.control.parse(words) }
        #expect(error?.description == line)
    }
}
