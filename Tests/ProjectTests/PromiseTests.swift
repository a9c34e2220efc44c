import Foundation
import Testing

/// docs/SEMANTICS.md numbers the promises of a loop, and the names of tests begin with the numbers of those that they test.
@Suite struct `The promises of a loop` {
    private static let page = "docs/SEMANTICS.md"
    private static let all = 1...40
    /// A cold loop belongs to its reader's process.
    private static let ofOneProcess: Set = [11]
    private static let targets: Set = ["LoopCoreTests", "LoopViewTests", "LoopAppTests", "LoopNodeTests"]

    @Test func `are numbered, and tested in one process and across processes`() throws {
        let problems = Self.problems(in: try Repository.text(Self.page), tests: try Self.tests(), promises: Self.all)
        for problem in problems { Issue.record("\(problem)") }
    }

    @Test func `are named by every test that runs in both runtimes`() throws {
        let tests = try Self.tests().filter(\.isOfEveryRuntime)
        #expect(tests.count >= 30)
        for test in tests where test.promises.isEmpty { Issue.record("`\(test.name)` names no promise") }
    }

    // MARK: The checks themselves

    @Test(arguments: [
        ("1. a", ["1 a", "d"], ["1 b"], []),
        ("1. a", [], ["1 b"], ["1 has no test in one process"]),
        ("1. a", ["1 a"], [], ["1 has no test across processes"]),
        ("1. a", ["1 a"], ["1 2 b"], ["`1 2 b` names a promise that is not there"]),
        ("2. a", ["1 a"], ["1 b"], ["the promises are [2]"]),
        ("", ["1 a"], ["1 b"], ["the promises are []"]),
    ])
    func `lack nothing that goes unnoticed`(page: String, here: [String], across: [String], expected: [String]) {
        let tests =
            here.map { PromiseTest(name: $0, isAcross: false, isOfEveryRuntime: false) }
            + across.map { PromiseTest(name: $0, isAcross: true, isOfEveryRuntime: true) }
        let problems = Self.problems(in: page, tests: tests, promises: 1...1)
        #expect(problems == expected)
    }

    @Test func `are found in sources, with the tests that run across processes`() {
        let source = """
            @Test(arguments: Runtime.allCases)
            func `1 a`(runtime: Runtime) async throws {
            @Test func `2 4 b`() {
            @Test(arguments: Runtime.allCases) func `3 c`(runtime: Runtime) {
            """
        let tests = Self.tests(in: source, target: "LoopNodeTests")
        #expect(tests.map(\.name) == ["1 a", "2 4 b", "3 c"])
        #expect(tests.map(\.promises) == [[1], [2, 4], [3]])
        #expect(tests.map(\.isOfEveryRuntime) == [true, false, true])
        #expect(tests.map(\.isAcross) == [true, false, true])
        let acrossAll = Self.tests(in: source + "\ninproc://x", target: "LoopNodeTests").map(\.isAcross)
        #expect(acrossAll == [true, true, true])
        #expect(Self.tests(in: "func `1 a`() { inproc://x", target: "LoopCoreTests").map(\.isAcross) == [false])
    }

    // MARK: Reading

    private static func problems(in page: String, tests: [PromiseTest], promises: ClosedRange<Int>) -> [String] {
        let listed = page.split(separator: "\n").compactMap { line in
            line.prefixMatch(of: /(\d+)\. [A-Z`a-z]/).flatMap { Int($0.output.1) }
        }
        guard listed == Array(promises) else { return ["the promises are \(listed)"] }
        var problems: [String] = []
        for promise in promises {
            let tests = tests.filter { $0.promises.contains(promise) }
            if tests.allSatisfy(\.isAcross) { problems.append("\(promise) has no test in one process") }
            if !ofOneProcess.contains(promise), !tests.contains(where: \.isAcross) {
                problems.append("\(promise) has no test across processes")
            }
        }
        for test in tests where !test.promises.allSatisfy(promises.contains) {
            problems.append("`\(test.name)` names a promise that is not there")
        }
        return problems
    }

    private static func tests() throws -> [PromiseTest] {
        try Repository.files(below: "Tests", suffix: ".swift").flatMap { file -> [PromiseTest] in
            let target = String(file.split(separator: "/")[1])
            return targets.contains(target) ? tests(in: try Repository.text(file), target: target) : []
        }
    }

    private static func tests(in source: String, target: String) -> [PromiseTest] {
        let everyRuntime = /@Test\(arguments: Runtime\.allCases\)\s*$/
        // A cluster in a test is one over `inproc`.
        let hasCluster = source.contains("inproc://")
        return source.matches(of: /func `([^`]+)`/).map { match in
            let isOfEveryRuntime = source[..<match.range.lowerBound].suffix(60).firstMatch(of: everyRuntime) != nil
            return PromiseTest(
                name: String(match.output.1), isAcross: target == "LoopNodeTests" && (isOfEveryRuntime || hasCluster),
                isOfEveryRuntime: isOfEveryRuntime)
        }
    }
}

/// A test, as its source describes it.
private struct PromiseTest {
    var name: String
    /// Whether it runs a reducer and its peers over sockets.
    var isAcross: Bool
    /// Whether the same test runs for a loop in one process and for one across processes.
    var isOfEveryRuntime: Bool

    /// The numbers at the beginning of the name.
    var promises: [Int] {
        name.prefix { $0.isNumber || $0 == " " }.split(separator: " ").compactMap { Int($0) }
    }
}
