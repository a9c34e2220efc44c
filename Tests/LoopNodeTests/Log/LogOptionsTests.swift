import CBOR
import Glibc
import LoopCore
import Testing

@testable import LoopNode

@Suite(.timeLimit(.minutes(2))) struct `The log options of a node's program` {
    /// A loop that has ended when it starts.
    private struct Over: LoopDefinition {
        static let name = "over"
        let initial = 0
        func reduce(into state: inout Int, _ event: Int, _: Transition) { state = event }
        func outcome(of state: Int) -> Outcome? { Outcome(text: "over", exitCode: 0) }
        var feedbacks: [Feedback<Int, Int>] { [] }
    }

    private static let programs = [
        ReducerProgram.program([RunnableLoop(Over())], name: "over-reducer", leavesNameOut: true),
        EffectProgram.program([RunnableLoop(Over())], name: "over-worker", leavesNameOut: true),
    ]

    private func level(
        _ program: NodeProgram, _ words: [String], _ environment: [String: String] = [:]
    ) throws -> LogLevel? {
        guard case .arguments(let arguments) = try program.command.parse(words, environment: environment) else {
            return nil
        }
        return arguments.log.level
    }

    @Test(arguments: [0, 1]) func `say which events matter enough, on the command line or by a variable`(
        place: Int
    ) throws {
        let program = Self.programs[place]
        #expect(try level(program, []) == .info)
        for each in LogLevel.allCases { #expect(try level(program, ["--log-level", each.rawValue]) == each) }
        #expect(try level(program, [], ["LOOP_LOG_LEVEL": "error"]) == .error)
        #expect(try level(program, ["--log-level", "debug", "--log", "json"], ["LOOP_LOG_LEVEL": "error"]) == .debug)
        let help = program.command.helpText(width: 100)
        #expect(help.contains("--log-level") && help.contains("LOOP_"))
    }

    @Test(arguments: [
        (["--log", "xml"], "--log", "xml", "text or json"),
        (["--log-level", "loud"], "--log-level", "loud", "debug, info, notice, warning or error"),
    ]) func `name the values that there are where one is wrong`(
        words: [String], option: String, value: String, values: String
    ) throws {
        for program in Self.programs {
            let error = try #require(throws: UsageError.self) { try program.command.parse(words, environment: [:]) }
            let text = error.description
            #expect(text.contains(option) && text.contains("'\(value)'") && text.contains(values), "\(text)")
        }
    }

    /// What a program writes until it exits, line by line. The testing library writes marks that are no text.
    private func lines(_ result: ExitTest.Result?) -> [String] {
        (result?.standardErrorContent ?? []).split(separator: 0x0a).compactMap { String(validating: $0, as: UTF8.self) }
    }

    private struct Line: Decodable {
        var time: String, level: LogLevel, kind: LogKind, node: String, text: String
    }

    @Test func `make each line a JSON object`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let program = ReducerProgram.program([RunnableLoop(Over())], name: "over-reducer", leavesNameOut: true)
            let words = ["--journal", "memory", "--bind", "inproc://over", "--log", "json"]
            exit(await program.run(words, environment: [:]))
        }
        let events = try lines(result).map { try CBOR.decode(Line.self, from: CBOR.fromJSON(text: $0)) }
        #expect(events.map(\.kind) == [.listening])
        #expect(events.allSatisfy { $0.node == "reducer over" && $0.level == .notice })
    }

    @Test func `make the line of a failure an object too`() async throws {
        let result = await #expect(processExitsWith: .exitCode(2), observing: [\.standardErrorContent]) {
            let program = ReducerProgram.program([RunnableLoop(Over())], name: "over-reducer", leavesNameOut: true)
            let words = ["--journal", "memory", "--bind", "tcp://0.0.0.0:7710", "--log", "json"]
            exit(await program.run(words, environment: [:]))
        }
        let events = try lines(result).map { try CBOR.decode(Line.self, from: CBOR.fromJSON(text: $0)) }
        #expect(events.map(\.kind) == [.failed])
        #expect(events.first?.node == "over-reducer")
    }

    @Test func `leave out what matters less`() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let program = ReducerProgram.program([RunnableLoop(Over())], name: "over-reducer", leavesNameOut: true)
            let words = ["--journal", "memory", "--bind", "inproc://over", "--log-level", "warning"]
            exit(await program.run(words, environment: [:]))
        }
        #expect(lines(result) == [])
    }

    @Test func `end the program with one line and 64 where a value is wrong`() async {
        let result = await #expect(processExitsWith: .exitCode(64), observing: [\.standardErrorContent]) {
            let program = EffectProgram.program([RunnableLoop(Over())], name: "over-worker", leavesNameOut: true)
            exit(await program.run(["--log-level", "loud"], environment: [:]))
        }
        #expect(lines(result).count == 1)
    }
}
