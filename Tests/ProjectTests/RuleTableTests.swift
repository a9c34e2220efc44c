import Foundation
import Testing

/// docs/testing.md lists the rules that the simulator breaks, and the mixes of faults for some of them.
@Suite struct `The table of broken rules` {
    @Test func `has every rule once, in order`() throws {
        #expect(try Self.rows("\n| rule broken |") == Self.cases(of: "package enum Rule:").sorted())
    }

    @Test func `has every mix once, in order`() throws {
        #expect(try Self.rows("\n| mix |") == Self.cases(of: "enum FaultMix:").filter { $0 != "all" }.sorted())
    }

    /// The names in the first column of a table.
    private static func rows(_ head: String) throws -> [String] {
        let page = try Repository.text("docs/testing.md")
        let start = try #require(page.range(of: head)).upperBound
        let table = page[start...].prefix(upTo: page.range(of: "\n\n", range: start..<page.endIndex)!.lowerBound)
        return table.matches(of: /\n\| `(\w+)` \|/).map { String($0.output.1) }
    }

    /// The names of an enum's cases, a line each.
    private static func cases(of declaration: String) throws -> [String] {
        let sources = try Repository.files(below: "Sources", suffix: ".swift").map(Repository.text)
        let source = try #require(sources.first { $0.contains(declaration) })
        let body = source[try #require(source.range(of: declaration)).upperBound...]
        return body.prefix(upTo: body.range(of: "\n}")!.lowerBound).matches(of: /\n    case (\w+)/).map {
            String($0.output.1)
        }
    }
}
