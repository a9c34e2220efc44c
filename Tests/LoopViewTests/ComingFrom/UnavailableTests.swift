import Foundation
import LoopCore
import LoopView
import Testing

/// The compiler reports what only the older libraries have; it is asked here.
@Suite(.timeLimit(.minutes(5))) struct `Names that are unavailable` {
    private static let schedulers = "There are no schedulers: leave `scheduler` out"

    /// Lines of the older libraries, each with the beginning of what the compiler must say.
    private static let hints: [(line: String, hint: String)] = [
        ("loop.start()", "A loop starts when it is made"),
        ("loop.pause()", "Attach .autoconnect(followingChangesIn:)"),
        ("loop.resume()", "Attach .autoconnect(followingChangesIn:)"),
        ("_ = loop.producer", "Iterate over `states`"),
        ("_ = Loop(initial: 0, scheduler: 1, reduce: next, feedbacks: feedbacks)", schedulers),
        ("_ = system(initial: 0, scheduler: 1, reduce: next, feedbacks: feedbacks)", schedulers),
        ("_ = system(initial: 0, scheduler: 1, reduce: next, feedbacks: feedbacks[0], feedbacks[1])", schedulers),
        ("_ = system(initial: 0, feedbacks: feedbacks, scheduler: 1, reduce: next)", schedulers),
        ("_ = system(initialState: 0, reduce: next, scheduler: 1, feedback: feedbacks)", schedulers),
        ("_ = system(initialState: 0, reduce: next, scheduler: 1, feedback: feedbacks[0], feedbacks[1])", schedulers),
        ("_ = ViewModel(initial: 0, feedbacks: feedbacks, scheduler: 1, reducer: next)", schedulers),
        ("_ = Store(initial: 0, reducer: reduce, feedbacks: feedbacks, scheduler: 1)", schedulers),
        (
            "_ = Feedback<Int, Int>.predicate(predicate: { $0 > 0 }, effects: { _ in .none })",
            "Write whenBecomesTrue(_:effects:) to start at the edge, whileTrue(_:state:effects:) at every state"
        ),
        ("_ = combine(reduce, reduce)", "Write Reducer.combine(Reducer(one), Reducer(other))"),
        ("_ = combine(Reducer(reduce), Reducer(reduce))", "Write Reducer.combine(Reducer(one), Reducer(other))"),
        (
            #"let _: Reducer<Whole, Int> = pullback(reduce, value: \.part, extractEvent: { $0 })"#,
            "Write Reducer(reduce).pullback(value:event:)"
        ),
        (
            #"let _: Reducer<Whole, Int> = pullback(Reducer(reduce), value: \.part, extractEvent: { $0 })"#,
            "Write reducer.pullback(value:event:)"
        ),
        (
            #"let _: Reducer<Whole, Whole> = pullback(reduce, value: \.part, event: \.event)"#,
            "Write Reducer(reduce).pullback(value:event:)"
        ),
        (
            #"let _: Reducer<Whole, Whole> = pullback(Reducer(reduce), value: \.part, event: \.event)"#,
            "Write reducer.pullback(value:event:)"
        ),
        (
            #"let _ = Feedback<Whole, Int>.pullback(feedback: feedbacks[0], value: \.part, event: { $0 })"#,
            "Write feedback.pullback(value:event:)"
        ),
        (
            "let _ = Feedback<Whole, Int>.pullback("
                + #"feedback: feedbacks[0], value: \.part, embedEvent: { $0 }, extractEvent: { $0 })"#,
            "Write feedback.pullback(value:embedEvent:extractEvent:)"
        ),
    ]

    private static let declarations = """
        import LoopCompatibility
        import LoopCore
        import LoopView
        struct Whole { var part = 0, event: Int? }
        @Sendable func next(_ state: Int, _ event: Int) -> Int { state + event }
        @Sendable func reduce(_ state: inout Int, _ event: Int) { state += event }
        func lines(_ loop: Loop<Int, Int>, _ feedbacks: [Feedback<Int, Int>]) {

        """

    @Test func `are refused by the compiler, which says what to write`() throws {
        let text = Self.declarations + Self.hints.map(\.line).joined(separator: "\n") + "\n}\n"
        let errors = try Self.errors(in: text)
        let firstLine = Self.declarations.split(separator: "\n", omittingEmptySubsequences: false).count
        for (index, expected) in Self.hints.enumerated() {
            let told = errors.filter { $0.line == firstLine + index }.map(\.text)
            #expect(told.count == 1, "\(expected.line): \(told)")
            #expect(told.allSatisfy { $0.contains("unavailable: \(expected.hint)") }, "\(expected.line): \(told)")
        }
        #expect(errors.count == Self.hints.count, "\(errors)")
    }

    @Test func `are distinguished from those that compile`() throws {
        #expect(try Self.errors(in: Self.declarations + "loop.stop()\n}\n").isEmpty)
    }

    /// What the compiler has against a file that imports the modules that these tests were built with.
    static func errors(in text: String) throws -> [(line: Int, text: String)] {
        let file = FileManager.default.temporaryDirectory.appending(path: "loop-names-\(UUID()).swift")
        try Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let root = URL(filePath: #filePath).appending(path: "../../../..").standardized
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            ["swiftc", "-typecheck", "-parse-as-library", "-swift-version", "6", "-diagnostic-style", "llvm"]
            + ["-I", products().appending(path: "Modules").path]
            + ["-Xcc", "-fmodule-map-file=\(root.appending(path: "Sources/C/CMemory/module.modulemap").path)"]
            + ["-module-cache-path", products().appending(path: "ModuleCache").path, file.path]
        let output = Pipe()
        process.standardError = output
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let errors = said.matches(of: /(?m)^.*?:(\d+):\d+: error: (.*)$/).map {
            (Int($0.output.1) ?? 0, String($0.output.2))
        }
        #expect(process.terminationStatus == (errors.isEmpty ? 0 : 1), "\(said)")
        return errors
    }

    /// Where the modules are that this test was linked from.
    private static func products() -> URL {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        // By its real path: modules in the cache are known by theirs.
        return URL(filePath: bundle).resolvingSymlinksInPath().deletingLastPathComponent()
    }
}
