import Glibc
import LoopCollections
import LoopCore
import TestFolders
import Testing

@testable import LoopNode

/// A loop that has ended when it starts, with what its database said.
private struct Greeting: LoopDefinition {
    struct Away: Error, CustomStringConvertible { let description = "the database is away,\nas always" }

    static let name = "greeting"
    let initial: String

    func reduce(into state: inout String, _ event: String, _: Transition) { state = event }
    func outcome(of state: String) -> Outcome? { Outcome(text: state, exitCode: 1) }
    var feedbacks: [Feedback<String, String>] { [] }

    static func connect() async throws -> Greeting {
        await Task.yield()
        return Greeting(initial: "hello")
    }

    /// Never returns, whatever becomes of its task, and sends a signal to this process when it is waited for.
    static func wait(_ signal: Int32) async throws -> Greeting {
        let (forever, continuation) = AsyncStream<Greeting>.makeStream()
        kill(getpid(), signal)
        let task = Task { await forever.first { _ in true } }
        guard let never = await task.value else { throw Away() }
        continuation.finish()
        return never
    }
}

@Suite(.timeLimit(.minutes(2))) struct `A definition that is made with await` {
    @Test func `is run once it is made`() async throws {
        let result = await #expect(processExitsWith: .exitCode(1), observing: [\.standardOutputContent]) {
            let loop = RunnableLoop(Greeting.self) { try await Greeting.connect() }
            let words = ["--journal", "memory", "--bind", "inproc://greeting"]
            let program = ReducerProgram.program([loop], name: "greeting-reducer", leavesNameOut: true)
            let code = await program.run(words, environment: [:])
            fflush(nil)
            exit(code)
        }
        let text = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        #expect(text.hasPrefix("hello\n"), "\(text)")
    }

    @Test func `is used by commands that replay a journal`() async throws {
        let schema = try await JournalTools { try await Greeting.connect() }.schema()
        #expect(schema.loop == "greeting")
    }

    @Test func `that cannot be made ends a reducer with one line, and 2`() async {
        let result = await #expect(processExitsWith: .exitCode(2), observing: [\.standardErrorContent]) {
            await ReducerNodeProgram.run(["--journal", "memory"]) { throw Greeting.Away() }
        }
        #expect(lines(result?.standardErrorContent) == ["greeting-reducer: \(Self.away)"])
    }

    @Test func `that cannot be made ends a worker with one line, and 2`() async {
        let result = await #expect(processExitsWith: .exitCode(2), observing: [\.standardErrorContent]) {
            await EffectNodeProgram.run([]) { throw Greeting.Away() }
        }
        #expect(lines(result?.standardErrorContent) == ["greeting-worker: \(Self.away)"])
    }

    @Test func `that cannot be made ends a command on a journal with one line, and 2`() async {
        let result = await #expect(processExitsWith: .exitCode(2), observing: [\.standardErrorContent]) {
            await ReducerNodeProgram.run(["schema"]) { throw Greeting.Away() }
        }
        #expect(lines(result?.standardErrorContent) == ["greeting-reducer: \(Self.away)"])
    }

    @Test func `that is refused for its arguments ends a reducer with 64`() async {
        await #expect(processExitsWith: .exitCode(64)) {
            await ReducerNodeProgram.run([]) { throw UsageError(message: "no database is named", hint: "see --help") }
        }
    }

    @Test func `is not waited for after SIGTERM, by a reducer`() async {
        await #expect(processExitsWith: .exitCode(0)) {
            await ReducerNodeProgram.run([]) { try await Greeting.wait(SIGTERM) }
        }
    }

    @Test func `is not waited for after SIGINT, by a reducer`() async {
        await #expect(processExitsWith: .exitCode(0)) {
            await ReducerNodeProgram.run([]) { try await Greeting.wait(SIGINT) }
        }
    }

    @Test func `is not waited for after SIGTERM, by a worker`() async {
        await #expect(processExitsWith: .exitCode(0)) {
            await EffectNodeProgram.run([]) { try await Greeting.wait(SIGTERM) }
        }
    }

    @Test func `is told of in the log while it takes long`() async throws {
        let said = AsyncStream<LogEvent>.makeStream()
        let log = NodeLog(name: "worker of greeting", LogHandler { said.continuation.yield($0) })
        let maker = DefinitionMaker {
            _ = await said.stream.first { _ in true }.map { event in
                #expect(
                    event.line
                        == "worker of greeting: waiting for what the definition of greeting needs, for 0 ms so far")
            }
            return try await Greeting.connect()
        }
        let made = try await maker.definition(until: StopRequest(), log, isLongAfter: .zero)
        #expect(made?.initial == "hello")
    }

    private static let away =
        #"the definition of greeting could not be made: the database is away,\u{A}as always"#

    /// The testing library writes marks that are no text.
    private func lines(_ bytes: [UInt8]?) -> [String] {
        (bytes ?? []).split(separator: 0x0a).compactMap { String(validating: $0, as: UTF8.self) }
    }
}

@Suite struct `A request to stop a program` {
    @Test func `ends at once what begins after it`() async throws {
        let (stop, ended) = (StopRequest(), Locked(0))
        stop.make()
        stop.onStop { ended.withLock { $0 += 1 } }
        #expect(ended.withLock { $0 } == 1)
        #expect(try await stop.value { await Task { 1 }.value } == nil)
    }

    @Test func `ends only what runs, and once`() async throws {
        let (stop, ended) = (StopRequest(), Locked<[String]>([]))
        #expect(try await stop.value { 7 } == 7)
        stop.onStop { ended.withLock { $0.append("first") } }
        stop.onStop { ended.withLock { $0.append("second") } }
        stop.make()
        stop.make()
        #expect(ended.withLock { $0 } == ["second"])
    }

    @Test func `is made when the task that waits is cancelled`() async throws {
        let (stop, waiting) = (StopRequest(), AsyncStream<Void>.makeStream())
        let task = Task {
            try await stop.value {
                waiting.continuation.yield()
                return await AsyncStream<Int>.makeStream().stream.first { _ in true } ?? 0
            }
        }
        _ = await waiting.stream.first { _ in true }
        task.cancel()
        #expect(try await task.value == nil)
    }
}

/// A user's own programs, as they exit.
private enum ReducerNodeProgram {
    static func run(_ words: [String], _ make: @escaping @Sendable () async throws -> Greeting) async -> Never {
        let loop = RunnableLoop(Greeting.self, make)
        exit(
            await ReducerProgram.program([loop], name: "greeting-reducer", leavesNameOut: true)
                .run(words, environment: [:]))
    }
}

private enum EffectNodeProgram {
    static func run(_ words: [String], _ make: @escaping @Sendable () async throws -> Greeting) async -> Never {
        let loop = RunnableLoop(Greeting.self, make)
        exit(
            await EffectProgram.program([loop], name: "greeting-worker", leavesNameOut: true)
                .run(words, environment: [:]))
    }
}
