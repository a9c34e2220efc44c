import Foundation
import Testing

/// The examples of docs/feedbacks.md are compiled in Tests/LoopCoreTests/Examples.
@Suite struct `The examples of the page about feedbacks` {
    private static let page = "docs/feedbacks.md"
    private static let folder = "Tests/LoopCoreTests/Examples"

    @Test func `are the feedbacks that are compiled, each once`() throws {
        // The last cell of a row: one piece of code that begins with a dot.
        let rows = try Repository.text(Self.page).matches(of: /(?m)\| `(\.\w+\([^`]*)` \|$/).map { String($0.output.1) }
        let compiled = try Repository.text("\(Self.folder)/FeedbackForms.swift").split(separator: "\n")
            .filter { $0.hasPrefix("        .") && $0.hasSuffix(",") }
            .map { String($0.drop { $0 == " " }.dropLast()) }
        #expect(rows.count > 20)
        #expect(rows.sorted() == compiled.sorted())
    }

    @Test func `have the very policies that are tested`() throws {
        let block = try Repository.text(Self.page).components(separatedBy: "```swift\n").dropFirst().first
        let code = try #require(block?.components(separatedBy: "```").first)
        #expect(try code == Repository.text("\(Self.folder)/FeedbackPolicies.swift"))
    }
}
