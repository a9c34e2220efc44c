import LoopCore
import Testing

@testable import LoopNode

@Suite struct `A program of a node` {
    private struct Lamp: LoopDefinition {
        static let name = "lamp"
        let initial = false
        func reduce(into state: inout Bool, _ event: Bool, _: Transition) { state = event }
        var feedbacks: [Feedback<Bool, Bool>] { [] }
    }

    private struct Fan: LoopDefinition {
        static let name = "fan"
        let initial = 0
        func reduce(into state: inout Int, _ event: Int, _: Transition) { state = event }
        var feedbacks: [Feedback<Int, Int>] { [] }
    }

    private static func refusal(_ words: [String], _ program: NodeProgram) -> String? {
        do throws(UsageError) {
            _ = try program.command.parse(words, environment: [:])
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `of one loop has a help without the loop's name as a word`() {
        let program = ReducerProgram.program([RunnableLoop(Lamp())], name: "lamp-reducer", leavesNameOut: true)
        let help = program.command.helpText(width: 100)
        #expect(
            help.hasPrefix(
                """
                Own the state of a loop, order its events, and hand its effects to workers. The loop is lamp.

                Usage: lamp-reducer [run] [options]


                """), "\(help)")
        #expect(help.contains("--journal FILE") && help.contains("\n  verify "))
        #expect(help.contains("More about a command: lamp-reducer COMMAND --help"))
        #expect(!help.contains("lamp-reducer lamp"))
    }

    @Test func `of one loop takes its commands and options at once`() throws {
        let program = ReducerProgram.program([RunnableLoop(Lamp())], name: "lamp-reducer", leavesNameOut: true)
        #expect(try program.command.parse(["--journal", "j"]).path == ["run"])
        #expect(try program.command.parse(["verify", "j"]).path == ["verify"])
        #expect(Self.refusal(["fan"], program) == "unexpected argument 'fan'; see lamp-reducer run --help")
    }

    @Test func `names the durabilities that there are where one is wrong`() {
        let program = ReducerProgram.program([RunnableLoop(Lamp())], name: "lamp-reducer", leavesNameOut: true)
        let refusal = Self.refusal(["--durability", "none"], program)
        #expect(refusal == "--durability cannot be 'none': it takes fsync or os")
    }

    @Test func `of several loops lists them where it does not know one`() {
        let program = EffectProgram.program([RunnableLoop(Lamp()), RunnableLoop(Fan())])
        #expect(Self.refusal(["toaster"], program) == "unknown loop 'toaster'; there are lamp, fan")
        #expect(Self.refusal(["lmap"], program) == "unknown loop 'lmap'; did you mean lamp? there are lamp, fan")
        #expect(Self.refusal([], program) == "loop-effect needs the name of a loop: lamp, fan; see loop-effect --help")
        let help = program.command.helpText(width: 100)
        #expect(help.contains("\n\nLoops:\n  lamp"))
        #expect(help.contains("Usage: loop-effect LOOP [options]"))
        #expect(help.hasSuffix("More about a loop: loop-effect LOOP --help"))
    }

    @Test(
        arguments: [
            (
                "lamp.journal",
                "reducer lamp: stopped; the loop is kept in lamp.journal, and the same command continues it"
            ),
            ("l", "reducer lamp: stopped; the loop is kept in l, and the same command continues it"),
            ("memory", "reducer lamp: stopped; nothing was kept"),
        ] as [(String, String)])
    func `says to who has stopped a reducer how to continue`(journal: String, line: String) {
        #expect(ReducerProgram.farewell(of: "lamp", journal: journal) == line)
    }
}

extension ParseOutcome {
    /// The names of the commands that were meant.
    fileprivate var path: [String]? { if case .arguments(let arguments) = self { arguments.path } else { nil } }
}
