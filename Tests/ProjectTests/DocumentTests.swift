import Foundation
import Testing

/// What every page keeps to.
@Suite struct `The project's documents` {
    private static let pages = Repository.files.filter { $0.hasSuffix(".md") && !$0.hasPrefix("Tests/") }

    @Test func `are all in the index or in the index of the decisions`() throws {
        let linked = try ["docs/README.md", "docs/decisions/README.md"].flatMap { index -> [String] in
            let folder = index.dropLast("README.md".count)
            return `Links in the project's documents`.targets(in: try Repository.text(index)).map { folder + $0 }
        }
        for page in Self.pages where page.hasPrefix("docs/") && page != "docs/README.md" {
            #expect(linked.contains(page), "\(page) is in no index")
        }
    }

    @Test(arguments: pages) func `quote no counts that change with every commit`(page: String) throws {
        let text = try Repository.text(page)
        for match in text.matches(of: /\d+ (?:tests )?passed|\d{2,} pages, \d+ links/) {
            Issue.record("\(page): \(match.output)")
        }
    }

    @Test(arguments: pages) func `use words that readers know`(page: String) throws {
        let prose = try Repository.text(page).replacing(/`[^`]*`/, with: "").lowercased()
        // One space for all that separates words, so that a phrase is found across lines.
        let words = " " + prose.split { !$0.isLetter }.joined(separator: " ") + " "
        for phrase in ["anew", "beside", "so many", "nobody is told"] {
            #expect(!words.contains(" \(phrase) "), "\(page): \(phrase)")
        }
    }
}
