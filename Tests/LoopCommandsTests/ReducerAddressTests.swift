import LoopCommands
import LoopCore
import LoopNode
import Testing

/// Every program that speaks to a reducer takes its address from one option and one variable.
@Suite struct `The address of the reducer` {
    private struct Idle: LoopDefinition {
        struct State: Codable, Sendable {}
        enum Event: Codable, Sendable { case none }

        static let name = "idle"
        let initial = State()
        let feedbacks: [Feedback<State, Event>] = []
        func reduce(into state: inout State, _ event: Event, _: Transition) {}
    }

    /// All commands below one that do something, with their words and all their options.
    private func commands(
        of command: Command, words: [String] = [], options: [OptionDeclaration] = []
    ) -> [(words: [String], options: [OptionDeclaration])] {
        let options = options + command.groups.flatMap(\.options)
        if command.subcommands.isEmpty { return [(words, options)] }
        return command.subcommands.flatMap { commands(of: $0, words: words + [$0.name], options: options) }
    }

    @Test func `comes from --reducer or LOOP_REDUCER in every command that needs one`() throws {
        let loops = [RunnableLoop(Idle())]
        let all =
            commands(of: ControlProgram.command, words: ["loopctl"])
            + commands(of: EffectProgram.program(loops).command, words: ["loop-effect"])
            + commands(of: ReducerProgram.program(loops).command, words: ["loop-reducer"])
        var found: [String] = []
        for (words, options) in all {
            // A reducer may be told of the others.
            for option in options where option.name == "reducer" && words[0] != "loop-reducer" {
                #expect(option.environment == "LOOP_REDUCER", "\(words)")
                #expect(option.defaultText == "tcp://127.0.0.1:7710", "\(words)")
                found.append(words.joined(separator: " "))
            }
        }
        // These own their reducer or need none.
        let without = Set(all.map { $0.words.joined(separator: " ") }).subtracting(found)
        #expect(
            without
                == Set(
                    [
                        "loopctl up", "loopctl serve", "loopctl journal init", "loopctl journal status",
                        "loopctl journal copy", "loopctl keygen",
                        "loopctl new",
                    ]
                        + ["run", "verify", "history", "state", "rehearse", "trim", "what-if", "schema"].map {
                            "loop-reducer idle \($0)"
                        }))
        #expect(found.count == 27, "\(found)")
    }

    @Test(arguments: [["status"], ["ready"], ["effects"], ["quarantine"], ["history"], ["verify"], ["state"]])
    func `of the environment is the one that is asked`(words: [String]) async {
        let environment = ["LOOP_REDUCER": "ipc:///no/such/reducer", "LOOP_CTL_TIMEOUT": "20ms"]
        #expect(await ControlProgram.run(words, environment: environment) == 2)
    }
}
