import Foundation
import Testing

/// docs/GLOSSARY.md decides which word names which idea.
@Suite struct `The glossary` {
    /// The lines of the table: a term and what it means.
    private static func terms() throws -> [(term: String, meaning: String)] {
        try Repository.text("docs/GLOSSARY.md").matches(of: /(?m)^\| \*\*([^*]+)\*\* \| (.*) \|$/).map {
            (String($0.output.1), String($0.output.2))
        }
    }

    @Test func `has every term once, in order`() throws {
        let terms = try Self.terms().map(\.term)
        #expect((60...90).contains(terms.count), "a word that a reader can guess needs no line")
        #expect(terms == Set(terms).sorted())
    }

    @Test func `has nothing else in its table`() throws {
        let rows = try Repository.text("docs/GLOSSARY.md").split(separator: "\n").filter { $0.hasPrefix("|") }
        #expect(rows.count == (try Self.terms().count) + 2)
    }

    @Test func `explains each term with whole sentences`() throws {
        for (term, meaning) in try Self.terms() {
            #expect([".", "?"].contains(meaning.last), "\(term)")
        }
    }

    @Test(arguments: [
        "effect", "event", "feedback", "journal", "machine", "peer", "place", "promise", "query", "record", "reducer",
        "request", "session", "shell", "state", "transition", "turn", "worker",
    ])
    func `defines what the documents build on`(term: String) throws {
        #expect(try Self.terms().contains { $0.term == term })
    }
}
