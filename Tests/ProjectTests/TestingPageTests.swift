import Foundation
import Testing

/// The examples of docs/testing-your-loop.md are files that are compiled and run.
@Suite struct `The page about testing` {
    private static let page = "docs/testing-your-loop.md"

    @Test func `has the very text of the tests that run`() throws {
        let names = [
            "LoopTestingTests/TestLoop/TestLoopLinkCheck", "LoopTestingTests/TestLoop/TestLoopReminder",
            "LoopSimulationTests/Simulated/SimulatedLinkCheck", "LoopNodeTestingTests/LocalClusterPost",
        ]
        let examples = try names.map { try Repository.text("Tests/\($0).swift") }
        #expect(try Self.blocks(in: Repository.text(Self.page)) == examples)
    }

    @Test func `tests the link checker in thirty lines`() throws {
        let block = try #require(Self.blocks(in: Repository.text(Self.page)).first)
        #expect(block.contains("LinkCheck(settings:"))
        #expect(block.split(separator: "\n").count <= 30)
    }

    @Test func `simulates the link checker in fifteen lines`() throws {
        let block = try #require(
            Self.blocks(in: Repository.text(Self.page)).first { $0.contains("SimulatedCluster(check") })
        #expect(block.split(separator: "\n").count <= 15)
    }

    /// What stands between the fences of Swift code.
    private static func blocks(in markdown: String) -> [String] {
        markdown.components(separatedBy: "```swift\n").dropFirst().map { part in
            String(part.components(separatedBy: "```")[0])
        }
    }
}
