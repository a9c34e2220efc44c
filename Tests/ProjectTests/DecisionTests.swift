import Foundation
import Testing

/// docs/decisions records why the project is as it is.
@Suite struct `The decisions` {
    private static let pages = Repository.files(below: "docs/decisions", suffix: ".md").filter {
        !$0.hasSuffix("/README.md")
    }

    @Test func `are numbered from 1 without a gap`() throws {
        let numbers = Self.pages.map { $0.split(separator: "/")[2].prefix(4) }
        #expect(numbers == Self.pages.indices.map { String(format: "%04d", $0 + 1)[...] })
    }

    @Test func `carry their number in the title`() throws {
        for (index, page) in Self.pages.enumerated() {
            #expect(try Self.title(of: page).hasPrefix("\(index + 1). "), "\(page)")
        }
    }

    @Test(arguments: pages)
    func `say their context, the choice, its cost and the alternatives`(page: String) throws {
        let text = try Repository.text(page)
        let costs = ["What it costs", "What we gave up", "What it relies on"]
        for section in [["Context"], ["Choice"], costs, ["Instead of"]] {
            #expect(section.contains { text.contains("\n**\($0)") }, "\(page) lacks \(section[0])")
        }
    }

    @Test func `are all in the index, in order, under their titles`() throws {
        let index = try Repository.text("docs/decisions/README.md").split(separator: "\n").filter {
            $0.contains(#/^\d+\. \[/#)
        }
        let expected = try Self.pages.map { page in
            let title = try Self.title(of: page)
            let space = try #require(title.firstIndex(of: " "))
            let (number, name) = (title[..<space], title[space...].dropFirst())
            return "\(number) [\(name)](\(page.split(separator: "/")[2]))"
        }
        #expect(index.map(String.init) == expected)
    }

    private static func title(of page: String) throws -> String {
        let line = try #require(try Repository.text(page).split(separator: "\n").first)
        return String(line.dropFirst(2))
    }
}
