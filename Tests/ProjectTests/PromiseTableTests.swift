import Foundation
import Testing

/// docs/SEMANTICS.md says which tests keep each promise; here it is held to that.
@Suite struct `The table of the promises` {
    struct Row {
        var number: Int
        var tests: [String]
    }

    private func rows() throws -> [Row] {
        try Repository.text("docs/SEMANTICS.md").split(separator: "\n").compactMap { line in
            guard let match = line.firstMatch(of: /^\| (\d+) \|(.+)\|([^|]+)\|$/), let number = Int(match.output.1)
            else { return nil }
            return Row(number: number, tests: match.output.3.matches(of: /`([^`]+)`/).map { String($0.output.1) })
        }
    }

    /// The names of all tests and suites in the sources.
    private func names() throws -> Set<String> {
        var names: Set<String> = []
        for file in Repository.files(below: "Tests", suffix: ".swift") {
            for match in try Repository.text(file).matches(of: /(?:func|struct) `([^`]+)`/) {
                names.insert(String(match.output.1))
            }
        }
        return names
    }

    @Test func `has every promise once, in order`() throws {
        #expect(try rows().map(\.number) == Array(1...40))
    }

    @Test func `names tests that are there, and that carry the number of their promise`() throws {
        let names = try names()
        for row in try rows() {
            for test in row.tests {
                #expect(names.contains(test), "promise \(row.number): there is no test `\(test)`")
                // Several numbers may stand at the beginning.
                let numbers = test.prefix { $0.isNumber || $0 == " " }.split(separator: " ").compactMap { Int($0) }
                #expect(numbers.contains(row.number), "promise \(row.number): `\(test)` does not carry its number")
            }
        }
    }

    /// The promises of those who show state are kept where views are.
    @Test func `has a test for every promise of the loop`() throws {
        for row in try rows() where row.number <= 36 {
            #expect(!row.tests.isEmpty, "promise \(row.number) has no test")
        }
    }
}
