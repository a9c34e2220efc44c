import Foundation
import Testing

/// docs/SEMANTICS.md says which tests keep each promise; here it is held to that.
@Suite struct `The table of the promises` {
    private static let page = "docs/SEMANTICS.md"
    private static let all = 1...40
    /// What a cold loop is: nothing that could be on two machines.
    private static let ofOneProcess: Set = [11]

    @Test func `has every promise once, with tests that are there, in one process and across processes`() throws {
        for problem in Self.problems(in: try Repository.text(Self.page), tests: try Self.tests()) {
            Issue.record("\(problem)")
        }
    }

    @Test func `has every test that runs in both runtimes`() throws {
        let named = Self.rows(in: try Repository.text(Self.page)).flatMap(\.across)
        let tests = try Self.tests().filter { $0.isOfEveryRuntime && $0.isAcross }
        #expect(tests.count >= 30)
        for test in tests where !named.contains(test.name) { Issue.record("`\(test.name)` is not in the table") }
    }

    @Test func `of mistakes names tests that are there`() throws {
        let text = try Repository.text(Self.page)
        let start = try #require(text.range(of: "| mistake | kept out by |"))
        let table = text[start.upperBound...].prefix(
            upTo: text.range(of: "\n\n## Policies")?.lowerBound ?? text.endIndex)
        let rows = table.split(separator: "\n").filter { $0.hasPrefix("| ") }
        #expect(rows.count == 9)
        let names = Set(try Self.tests().map(\.name))
        for row in rows where !row.contains("| no test: ") {
            let tests = Self.quoted(row.split(separator: "|").last ?? "")
            #expect(!tests.isEmpty, "\(row)")
            for test in tests { #expect(names.contains(test), "there is no test `\(test)`") }
        }
    }

    // MARK: The checks themselves

    @Test(arguments: [
        ("| 1 | a | `1 a` | `1 b` |", []),
        ("| 1 | a | | `1 b` |", ["1 has no test in one process"]),
        ("| 1 | a | `1 a` | of one process |", ["1 has no test across processes"]),
        ("| 1 | a | `1 c` | `1 b` |", ["1: there is no test `1 c`"]),
        ("| 1 | a | `1 a` | `1 a` |", ["1: `1 a` does not run across processes"]),
        ("| 1 | a | `2 a` | `1 b` |", ["1: `2 a` does not carry its number"]),
        ("| 2 | a | `1 2 d` | `1 2 e` |", ["the rows are [2]"]),
        ("", ["the rows are []"]),
    ])
    func `finds what is missing`(row: String, expected: [String]) {
        let tests = [
            PromiseTest(name: "1 a", target: "LoopCoreTests", isAcross: false, isOfEveryRuntime: false),
            PromiseTest(name: "1 b", target: "LoopNodeTests", isAcross: true, isOfEveryRuntime: true),
            PromiseTest(name: "2 a", target: "LoopCoreTests", isAcross: false, isOfEveryRuntime: false),
            PromiseTest(name: "1 2 d", target: "LoopCoreTests", isAcross: false, isOfEveryRuntime: false),
            PromiseTest(name: "1 2 e", target: "LoopNodeTests", isAcross: true, isOfEveryRuntime: true),
        ]
        #expect(Self.problems(in: row, tests: tests, promises: 1...1) == expected)
    }

    @Test func `finds tests in sources, and which of them run across processes`() {
        let source = """
            @Test(arguments: Runtime.allCases)
            func `1 a`(runtime: Runtime) async throws {
            @Test func `2 b`() {
            @Test(arguments: Runtime.allCases) func `3 c`(runtime: Runtime) {
            """
        let tests = Self.tests(in: source, target: "LoopNodeTests")
        #expect(tests.map(\.name) == ["1 a", "2 b", "3 c"])
        #expect(tests.map(\.isOfEveryRuntime) == [true, false, true])
        #expect(tests.map(\.isAcross) == [true, false, true])
        let acrossAll = Self.tests(in: source + "\ninproc://x", target: "LoopNodeTests").map(\.isAcross)
        #expect(acrossAll == [true, true, true])
        #expect(Self.tests(in: "func `1 a`() { inproc://x", target: "ZMQTests").map(\.isAcross) == [false])
    }

    // MARK: Reading

    private struct Row {
        var number: Int
        var here: [String]
        var across: [String]
    }

    private static func problems(
        in page: String, tests: [PromiseTest], promises: ClosedRange<Int> = all
    ) -> [String] {
        let rows = rows(in: page)
        guard rows.map(\.number) == Array(promises) else { return ["the rows are \(rows.map(\.number))"] }
        let byName = Dictionary(grouping: tests, by: \.name)
        return rows.flatMap { row -> [String] in
            var problems: [String] = []
            if row.here.isEmpty { problems.append("\(row.number) has no test in one process") }
            if row.across.isEmpty, !ofOneProcess.contains(row.number) {
                problems.append("\(row.number) has no test across processes")
            }
            for name in row.here + row.across {
                if byName[name] == nil { problems.append("\(row.number): there is no test `\(name)`") }
                // Several numbers may stand at the beginning.
                let numbers = name.prefix { $0.isNumber || $0 == " " }.split(separator: " ").compactMap { Int($0) }
                if !numbers.contains(row.number) {
                    problems.append("\(row.number): `\(name)` does not carry its number")
                }
            }
            for name in row.across where byName[name]?.contains(where: \.isAcross) == false {
                problems.append("\(row.number): `\(name)` does not run across processes")
            }
            return problems
        }
    }

    private static func rows(in page: String) -> [Row] {
        page.split(separator: "\n").compactMap { line in
            guard let match = line.firstMatch(of: /^\| (\d+) \|(.+)\|([^|]+)\|([^|]+)\|$/),
                let number = Int(match.output.1)
            else { return nil }
            return Row(number: number, here: quoted(match.output.3), across: quoted(match.output.4))
        }
    }

    private static func quoted(_ cell: Substring) -> [String] {
        cell.matches(of: /`([^`]+)`/).map { String($0.output.1) }
    }

    private static func tests() throws -> [PromiseTest] {
        try Repository.files(below: "Tests", suffix: ".swift").flatMap { file in
            tests(in: try Repository.text(file), target: String(file.split(separator: "/")[1]))
        }
    }

    private static func tests(in source: String, target: String) -> [PromiseTest] {
        let everyRuntime = /@Test\(arguments: Runtime\.allCases\)\s*$/
        // A cluster in a test is one over `inproc`.
        let hasCluster = source.contains("inproc://")
        return source.matches(of: /func `([^`]+)`/).map { match in
            let isOfEveryRuntime = source[..<match.range.lowerBound].suffix(60).firstMatch(of: everyRuntime) != nil
            return PromiseTest(
                name: String(match.output.1), target: target,
                isAcross: target == "LoopNodeTests" && (isOfEveryRuntime || hasCluster),
                isOfEveryRuntime: isOfEveryRuntime)
        }
    }
}

/// A test as its source tells of it.
private struct PromiseTest {
    var name: String
    var target: String
    /// Whether it runs a reducer and what speaks to it over sockets.
    var isAcross: Bool
    /// Whether it is the same test for a loop in one process and for one across processes.
    var isOfEveryRuntime: Bool
}
