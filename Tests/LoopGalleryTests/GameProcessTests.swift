import LoopNode
import Testing

/// The small examples as people call them, with all that they need in one process, and with a reducer and workers.
@Suite(.timeLimit(.minutes(5))) struct `loop-example for small examples` {
    struct Play: Sendable, CustomTestStringConvertible {
        var name: String
        var lines: [String]
        var until: String
        var testDescription: String { name }
    }

    private static let plays = [
        Play(name: "counter", lines: ["+", "+", "-"], until: "[ - ]  1  [ + ]"),
        Play(
            name: "sign-in", lines: ["User name = alan", "I accept the terms", "Sign in"], until: "Hello, alan."),
        Play(name: "switch", lines: [], until: "● yellow"),
        Play(name: "switch", lines: ["The other one", "+"], until: "[ - ]  1  [ + ]"),
        Play(name: "todo", lines: ["New = milk", "Add"], until: "- [ ] 1  Title of 1: [milk]  saved"),
        Play(name: "token-refresh", lines: ["Ask"], until: "1 /news: read with token 1"),
    ]

    @Test(arguments: plays, ["text", "cluster"])
    func `come to their end`(play: Play, mode: String) async throws {
        let example = try ExampleProcess(
            [play.name, "--mode", mode, "--until", play.until, "--for", "60s"], input: play.lines)
        #expect(await example.process.wait() == .exited(0), "\(example.output.suffix(20))")
    }

    /// Each frame was held back until the next line came: to flush the output, the program waited for its input.
    @Test func `show what a line does while the next one is waited for`() async throws {
        let example = try ExampleProcess(
            command: """
                folder=$(mktemp -d) && mkfifo $folder/input && exec 3<>$folder/input && rm -r $folder
                printf '+\\n+\\n' >&3
                loop-example counter --until ' 2 ' <&3
                """)
        #expect(await example.process.wait() == .exited(0))
        #expect(example.output.contains("[ - ]  2  [ + ]  [ Reset ]"))
    }
}
