import Testing

/// docs/coming-from says how the older libraries differ. Where it says "Nothing", tests keep that.
@Suite struct `The rows of docs/coming-from` {
    private static let pages = ["loop", "reactivefeedback", "rxfeedback", "combinefeedback"]

    @Test(arguments: pages) func `say what is different, and have a test where they say nothing`(page: String) throws {
        let text = try Repository.text("docs/coming-from/\(page).md")
        let tests = try Repository.files(below: "Tests", suffix: ".swift").flatMap {
            try Repository.text($0).matches(of: /func `([^`]+)`/).map { String($0.output.1) }
        }
        for problem in Self.problems(in: text, of: testsOfComingFrom[page] ?? [:], tests: Set(tests)) {
            Issue.record("\(problem)")
        }
    }

    @Test func `are of all the pages`() {
        let files = Repository.files(below: "docs/coming-from", suffix: ".md")
        #expect(files == Self.pages.map { "docs/coming-from/\($0).md" }.sorted())
        #expect(Set(testsOfComingFrom.keys) == Set(Self.pages))
    }

    @Test(arguments: [
        ("| `a` | `b` | Nothing. |", []), ("| `a`, `x` | `b` | Nothing: it is the same. |", []),
        ("| `a` | `b` | Its name. |", ["a: has a test, but does not say Nothing"]),
        ("| `a` | `b` | Nothing. |\n| `c` | `b` | Nothing. |", ["c: says Nothing, but no test keeps it"]),
        ("| `a` | `b` | Nothing. |\n| `d` | `b` |  |", ["d: does not say what is different"]),
        ("| `a` | `b` | Nothing. |\n| d | `b` | The same. |", ["d: The same as what?"]),
        ("| `a` | `b` | Nothing. |\n| `a` | `b` | Nothing. |", ["a: stands there twice"]),
        ("| `e` | `b` | Nothing. |", ["a: is no row", "e: there is no test `none`"]),
    ])
    func `are checked`(rows: String, expected: [String]) {
        let page = "| L | here | x |\n|---|---|---|\n\(rows)\n\n| another | table | x |\n|---|---|---|\n| f | g | |\n"
        let table = rows.contains("`e`") ? ["a": ["one"], "e": ["none"]] : ["a": ["one"]]
        #expect(Self.problems(in: page, of: table, tests: ["one"]) == expected)
    }

    /// What is wrong with the rows of a page, in the order of their names.
    private static func problems(in page: String, of table: [String: [String]], tests: Set<String>) -> [String] {
        let rows = rows(of: page)
        var problems: [String] = []
        var seen: Set<String> = []
        for (name, difference) in rows {
            if difference.isEmpty { problems.append("\(name): does not say what is different") }
            if difference.hasPrefix("The same") { problems.append("\(name): The same as what?") }
            guard difference.hasPrefix("Nothing") else {
                if table[name] != nil { problems.append("\(name): has a test, but does not say Nothing") }
                continue
            }
            if !seen.insert(name).inserted { problems.append("\(name): stands there twice") }
            let named = table[name] ?? []
            if named.isEmpty { problems.append("\(name): says Nothing, but no test keeps it") }
            for test in named where !tests.contains(test) { problems.append("\(name): there is no test `\(test)`") }
        }
        let names = Set(rows.map(\.name))
        problems += table.keys.filter { !names.contains($0) }.map { "\($0): is no row" }
        return problems.sorted()
    }

    /// The rows of all tables whose second column is ours: the first code of the first column, and the last column.
    private static func rows(of page: String) -> [(name: String, difference: String)] {
        var isTable = false
        return page.split(separator: "\n", omittingEmptySubsequences: false).compactMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmingBlanks() }
            if cells.count == 5, cells[2] == "here" {
                isTable = true
                return nil
            }
            guard cells.count == 5, isTable else {
                isTable = false
                return nil
            }
            guard !cells[1].hasPrefix("---") else { return nil }
            let code = cells[1].firstMatch(of: /`([^`]+)`/).map { String($0.output.1) }
            return (code ?? cells[1], cells[3])
        }
    }
}

extension Substring {
    fileprivate func trimmingBlanks() -> String {
        let start = drop { $0 == " " }
        return String(start.prefix(start.count - start.reversed().prefix { $0 == " " }.count))
    }
}
